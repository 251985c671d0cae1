// Convenience only: the page says the same without it.
(() => {
  const canvas = document.getElementById("canvas");
  const drawing = canvas.querySelector("svg");
  const width = drawing.viewBox.baseVal.width;
  const height = drawing.viewBox.baseVal.height;
  let scale = 1;

  const fit = () => Math.min(1, (canvas.clientWidth - 2) / width);
  const zoom = (to, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) => {
    const next = Math.min(2.5, Math.max(Math.min(fit(), 0.5), to));
    const left = (canvas.scrollLeft + x) / scale;
    const top = (canvas.scrollTop + y) / scale;
    scale = next;
    drawing.setAttribute("width", width * scale);
    drawing.setAttribute("height", height * scale);
    canvas.scrollLeft = left * scale - x;
    canvas.scrollTop = top * scale - y;
  };
  const steps = { in: () => zoom(scale * 1.25), out: () => zoom(scale / 1.25), fit: () => zoom(fit()) };
  document.querySelectorAll("[data-zoom]").forEach((button) => {
    button.parentElement.hidden = false;
    button.addEventListener("click", () => steps[button.dataset.zoom]());
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { "+": "in", "=": "in", "-": "out", 0: "fit" }[event.key];
    if (step && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      steps[step]();
    }
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const frame = canvas.getBoundingClientRect();
    zoom(scale * Math.exp(-event.deltaY / 300), event.clientX - frame.left, event.clientY - frame.top);
  }, { passive: false });

  let held = null;
  let moved = false;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    held = { x: event.clientX + canvas.scrollLeft, y: event.clientY + canvas.scrollTop };
    moved = false;
  });
  window.addEventListener("pointermove", (event) => {
    if (!held) return;
    const x = held.x - event.clientX;
    const y = held.y - event.clientY;
    moved = moved || Math.abs(x - canvas.scrollLeft) + Math.abs(y - canvas.scrollTop) > 4;
    if (!moved) return;
    canvas.classList.add("held");
    canvas.scrollLeft = x;
    canvas.scrollTop = y;
  });
  window.addEventListener("pointerup", () => {
    held = null;
    canvas.classList.remove("held");
  });
  canvas.addEventListener("click", (event) => { if (moved) event.preventDefault(); });
  canvas.addEventListener("dragstart", (event) => event.preventDefault());

  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const details = target && target.closest("details");
    if (details) {
      details.open = true;
      details.scrollIntoView({ block: "center" });
    }
  };
  window.addEventListener("hashchange", open);
  open();

  document.querySelectorAll("pre").forEach((text) => {
    if (!navigator.clipboard || !text.closest(".steps")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", () => {
      navigator.clipboard.writeText(text.querySelector("code").textContent).then(() => {
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 1500);
      });
    });
    text.append(button);
  });
  zoom(Math.max(fit(), 0.6), 0, 0);
  const first = drawing.querySelector(".box").getBoundingClientRect();
  canvas.scrollLeft = first.left + first.width / 2 - canvas.getBoundingClientRect().left - canvas.clientWidth / 2;
})();
