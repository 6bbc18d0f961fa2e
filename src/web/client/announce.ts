const region = document.createElement("div");
region.className = "hidden";
region.setAttribute("role", "status");
document.body.append(region);

/** Tells those who do not see the page what has just happened on it. */
export function announce(text: string): void {
  region.textContent = text;
}
