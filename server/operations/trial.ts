/**
 * Whether an environment would answer as it is about to be served: another release, another version of PHP. The edge
 * tries it out beside the one that visitors see.
 */
import type { EnvironmentLayout, EnvironmentRef } from "@sitewright/runtimes/runtime.ts";
import type { EdgeClient, Trial } from "../reconcilers/edgeClient.ts";
import { StepFailure } from "./operation.ts";

/** What would be served, at which address. */
export interface Candidate {
  readonly environment: EnvironmentRef;
  readonly phpVersion: string;
  readonly layout: EnvironmentLayout;
  /** `http://demo.localhost:8081`. */
  readonly address: string;
  /** How a sentence names it: `The site on PHP 8.4`. */
  readonly what: string;
  /** Whether PHP may change nothing, because visitors use it already, or a part of it. */
  readonly isReadOnly: boolean;
}

/**
 * Resolves with false where nothing is known yet, because PHP wanted to change what it may not. Rejects with `StepFailure`,
 * whose message has PHP's own error, where the front page does not come.
 */
export type TryOut = (candidate: Candidate, signal: AbortSignal) => Promise<boolean>;

const noAnswer: Readonly<Record<string, string>> = {
  deadline: "its front page took too long",
  crashed: "PHP crashed while it made the front page",
  busy: "no PHP process was free for it",
  unavailable: "PHP could not be started for it",
};

/** The first error in PHP's log, without the date that stands before each line. */
function firstError(log: string): string | null {
  const line = log.split("\n").find((text) => /PHP (?:Fatal|Parse|Recoverable|Core|Compile)/i.test(text));
  return line?.replace(/^\[[^\]]*\]\s*/, "").trim() ?? null;
}

/** What is wrong with the page, as a part of a sentence; null where nothing is. */
export function faultOf({ status, isWhole, errors, reason }: Trial): string | null {
  const cause = firstError(errors);
  const because = cause === null ? "" : `: ${cause}`;
  if (reason !== null) return `${noAnswer[reason] ?? "it gave no answer"}${because}`;
  if (status >= 500) return `its front page has the status ${status}${because}`;
  return !isWhole && cause !== null ? `its front page breaks off${because}` : null;
}

export function makeTryOut(edge: Pick<EdgeClient, "tryOut">): TryOut {
  return async ({ environment, phpVersion, layout, address, what, isReadOnly }, signal) => {
    const served = { id: environment.id, number: environment.number, phpVersion, isFrozen: false, ...layout };
    const order = { environment: served, host: new URL(address).host, url: "/", isReadOnly };
    const trial = await edge.tryOut(order, signal);
    if (trial.reason === "wouldWrite") return false;
    const fault = faultOf(trial);
    if (fault === null) return true;
    throw new StepFailure(`${what} does not answer as it should: ${fault}.`, { isTransient: trial.reason === "busy" });
  };
}
