/** Opens the operation or schema that the address names. Without this module the browser only scrolls to it. */

function openNamed(): void {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!(named instanceof HTMLDetailsElement)) return;
  named.open = true;
  named.scrollIntoView();
}

window.addEventListener("hashchange", openNamed);
openNamed();

export {};
