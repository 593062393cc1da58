(() => {
  const input = document.getElementById("search");
  if (!input) return;
  const found = document.getElementById("found");
  const groups = [...document.querySelectorAll(".metric")];
  input.closest("p").hidden = false;
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let total = 0;
    for (const group of groups) {
      const about = group.querySelector("summary").textContent;
      let inside = 0;
      for (const row of group.querySelectorAll("tbody tr")) {
        const text = (row.textContent + " " + about).toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        if (!row.hidden) inside += 1;
      }
      group.hidden = inside === 0;
      group.open = words.length > 0 && inside > 0;
      total += inside;
    }
    found.textContent = words.length > 0 ? total + " found" : "";
  });
})();
