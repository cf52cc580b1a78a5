"use strict";
const frames = JSON.parse(document.getElementById("frames").textContent);
const line = document.getElementById("line");
const end = Number(line.dataset.end), width = Number(line.dataset.width);
const slider = document.getElementById("slider"), cursor = document.getElementById("cursor");
const decisions = [...document.querySelectorAll(".decision")];
const numbers = [...document.querySelectorAll("[data-number]")];
const play = document.getElementById("play");
let at = 0, timer = null;

function show(index) {
  at = Math.min(Math.max(index, 0), frames.length - 1);
  const frame = frames[at];
  if (!frame) return;
  slider.value = at;
  for (const name of ["front", "above"]) {
    const image = document.getElementById(name);
    if (!image) continue;
    image.style.visibility = frame[name] ? "visible" : "hidden";
    if (frame[name]) image.src = frame[name];
  }
  for (const cell of numbers) {
    const value = frame[cell.dataset.number];
    cell.textContent = value === undefined || value === null ? "–" : value.toFixed(2);
  }
  const x = Math.min(frame.time / end, 1) * width;
  cursor.setAttribute("x1", x);
  cursor.setAttribute("x2", x);
  decisions.forEach((part, number) => { part.hidden = number !== frame.decision; });
}

function seek(time) {
  let best = 0;
  frames.forEach((frame, index) => {
    if (Math.abs(frame.time - time) < Math.abs(frames[best].time - time)) best = index;
  });
  show(best);
}

function toggle() {
  if (timer !== null) {
    clearInterval(timer);
    timer = null;
  } else {
    if (at === frames.length - 1) show(0);
    timer = setInterval(() => { at === frames.length - 1 ? toggle() : show(at + 1); }, 500);
  }
  play.textContent = timer === null ? "play" : "stop";
}

slider.max = Math.max(frames.length - 1, 0);
slider.addEventListener("input", () => show(Number(slider.value)));
play.addEventListener("click", toggle);
line.addEventListener("click", (event) => {
  const box = line.getBoundingClientRect();
  seek((event.clientX - box.left) / box.width * end);
});
for (const link of document.querySelectorAll("[data-seek]")) {
  link.addEventListener("click", () => seek(Number(link.dataset.seek)));
}
document.addEventListener("keydown", (event) => {
  const far = event.shiftKey ? 10 : 1;
  const moves = { ArrowLeft: at - far, ArrowRight: at + far, Home: 0, End: frames.length - 1 };
  if (event.key in moves) show(moves[event.key]);
  else if (event.key === " " && event.target !== play) toggle();
  else return;
  event.preventDefault();
});
show(0);
