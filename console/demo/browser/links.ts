/** Links that lead out of the console: to files of the API, to the API's reference, and to sites and plugins that do not exist. */

/** `answer`: answers a request for a file of the API. */
export function keepLinksInside(answer: (request: Request) => Promise<Response>): void {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!(link instanceof HTMLAnchorElement)) return;
    const follow = insteadOf(link, answer);
    if (follow === null) return;
    event.preventDefault();
    void follow();
  });
}

/** The page to show instead of following the link. Null: follow it. */
function insteadOf(link: HTMLAnchorElement, answer: (request: Request) => Promise<Response>): (() => unknown) | null {
  const { origin, pathname, href } = new URL(link.href);
  const written = link.getAttribute("href") ?? "";
  // The demo's own addresses are behind the `#`, so a place on the page can't be.
  if (/^#[^/]/.test(written)) return () => goToPlace(written.slice(1));
  if (origin !== window.location.origin) return () => window.open("nothing-here.html", "_blank", "noopener");
  if (pathname === "/docs") return () => window.open("openapi.json", "_blank", "noopener");
  if (pathname.startsWith("/v2/")) return async () => save(await answer(new Request(href)));
  return null;
}

function goToPlace(id: string): void {
  const place = document.getElementById(id);
  if (place === null) return;
  place.tabIndex = -1;
  place.focus();
}

async function save(response: Response): Promise<void> {
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = `activity.${response.headers.get("content-type") === "text/csv" ? "csv" : "jsonl"}`;
  link.click();
  URL.revokeObjectURL(address);
}
