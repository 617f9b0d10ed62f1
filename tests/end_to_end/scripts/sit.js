document.querySelector(".sit input").value = arguments[0]
document.querySelector(".sit .main").click()
document.querySelector(".sit .main")?.click() // an impatient finger
