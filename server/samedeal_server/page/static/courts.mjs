// The terminal's pictures of court cards. `make games` writes this module.
export const COURTS = {
	J: ".rrrr.g rrrrrrg ggggggg .hsssh. .hkskh. .hsssh. ..sss.. .rrgrr. rrrgrrr rrrgrrr",
	Q: ".g.g.g. .ggggg. hhhhhhh hhssshh hhkskhh hhssshh hhhshhh hrrsrrh rrrgrrr rrrgrrr",
	K: ".g.g.g. .ggggg. .ggggg. .hsssh. .hkskh. .hhshh. .hhhhh. rrhhhrr rrrhrrr rrrgrrr"
}
