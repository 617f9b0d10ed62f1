const slider = document.querySelector(".controls input");
slider.value = arguments[0];
slider.dispatchEvent(new Event("input"));
