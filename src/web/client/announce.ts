const region = document.createElement("div");
region.className = "hidden";
region.setAttribute("role", "status");
document.body.append(region);

/** Announces a change of the page to screen readers. */
export function announce(text: string): void {
  region.textContent = text;
}
