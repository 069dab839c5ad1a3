const text = document.getElementById("filter-text");
const boxes = [...document.querySelectorAll("#filters input[type=checkbox]")];
const told = document.getElementById("filter-told");
const articles = [...document.querySelectorAll("article[data-verdict]")];

function apply() {
  const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
  let count = 0;
  for (const article of articles) {
    const content = article.textContent.toLowerCase();
    const matches = shown.has(article.dataset.verdict) && words.every((word) => content.includes(word));
    article.hidden = !matches;
    count += matches;
  }
  for (const family of document.querySelectorAll("details[data-family]")) {
    const any = family.querySelector("article:not([hidden])") !== null;
    family.hidden = !any;
    if (words.length > 0) family.open = any;
  }
  told.textContent = `${count} of ${articles.length} statements shown`;
}

function openTarget() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target) target.scrollIntoView();
}

document.getElementById("filters").hidden = false;
document.getElementById("filters").addEventListener("input", apply);
document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", openTarget);
const printsAll = document.getElementById("print-all");
document.getElementById("print-choice").hidden = false;
printsAll.addEventListener("change", () => document.body.classList.toggle("print-all", printsAll.checked));
addEventListener("beforeprint", () => {
  if (printsAll.checked) document.querySelectorAll("details").forEach((part) => { part.open = true; });
});
apply();
openTarget();
