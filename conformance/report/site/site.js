const form = document.getElementById("filters");
if (form) {
  const text = document.getElementById("filter-text");
  const which = document.getElementById("filter-rows");
  const told = document.getElementById("filter-told");
  const rows = [...document.querySelectorAll("tr[data-row]")];

  const apply = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const content = row.textContent.toLowerCase();
      const kept = { counts: "counts" in row.dataset, differs: "differs" in row.dataset, fails: "fails" in row.dataset };
      row.hidden = !((kept[which.value] ?? true) && words.every((word) => content.includes(word)));
      count += !row.hidden;
    }
    for (const family of document.querySelectorAll("details[data-family]")) {
      const any = family.querySelector("tr[data-row]:not([hidden])") !== null;
      family.hidden = !any;
      if (words.length > 0 || which.value !== "counts") family.open = any;
    }
    told.textContent = `${count} of ${rows.length} statements shown`;
  };

  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
}

const openTarget = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", openTarget);
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => { part.open = true; }));
openTarget();
