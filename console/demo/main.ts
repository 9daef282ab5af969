/** Starts the console on the demo's API. Its addresses are behind a `#`, so that any server of files can serve it from any folder. */
import "./demo.css";
import { createHashHistory } from "@tanstack/react-router";
import { isBehaviour } from "./browser/behaviour.ts";
import { installDemo } from "./browser/install.ts";

/** `?answers=429` makes the API answer so. It must not stay in the address, where the router would read it. */
function behaviourInAddress() {
  const address = new URL(window.location.href);
  const wanted = address.searchParams.get("answers");
  address.searchParams.delete("answers");
  window.history.replaceState(null, "", address);
  return isBehaviour(wanted) ? wanted : "normal";
}

installDemo(behaviourInAddress());
// Only now: the client of the API keeps the `fetch` that there is when it is loaded.
const { router } = await import("../app/router.tsx");
router.update({ ...router.options, history: createHashHistory() });
await import("../app/main.tsx");
