// The sentences of the rows of the table of verdicts, which are needed only after a race, or once a server contradicts itself.

import {SENTENCES} from "./sentences.mjs"

export const rowSentence = ([row, detail = ""]) => SENTENCES[row].replace("{detail}", () => detail).trimEnd()
