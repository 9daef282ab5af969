/** Compares screenshots of an environment before and after an update. */
import { StepFailure } from "../engine/operation.ts";
import { loadWithRetries } from "./runTrialWithRetries.ts";
import type { Services } from "./services.ts";
import type { Candidate } from "./trial.ts";

interface VisualCheckOptions {
  /** Names the screenshots. */
  readonly id: string;
  readonly before: Candidate;
  readonly after: Candidate;
  /** Pages to compare in addition to the front page. */
  readonly paths: readonly string[];
  /** How much of a screenshot may differ, in percent from 0 to 100. */
  readonly threshold: number;
}

/** Deadline for each request of the browser: the page, and each of its images, scripts and style sheets. */
const pageSeconds = 90;

const percent = (share: number) => `${Math.round(share * 1_000) / 10} %`;

/**
 * Keeps the screenshots. Rejects with `StepFailure` if a page differs by more than the threshold. Does nothing if the
 * machine has no browser.
 */
export async function requireVisualMatch(
  { screenshots, loadForBrowser }: Pick<Services, "screenshots" | "loadForBrowser">,
  { id, before, after, paths, threshold }: VisualCheckOptions,
  signal: AbortSignal,
): Promise<void> {
  if (screenshots === null) return;
  const comparison = {
    id,
    host: new URL(after.address).host,
    paths: [...new Set(["/", ...paths])],
    before: loadWithRetries(loadForBrowser(before), pageSeconds),
    after: loadWithRetries(loadForBrowser(after), pageSeconds),
  };
  const differences = await screenshots.compare(comparison, signal).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new StepFailure("Screenshots of the site before and after the update could not be taken.", { cause });
  });
  const [worst] = differences.toSorted((one, other) => other.share - one.share);
  if (worst === undefined || worst.share * 100 <= threshold) return;
  const page = worst.path === "/" ? "front page" : `page ${worst.path}`;
  throw new StepFailure(
    `${after.what} looks different: ${percent(worst.share)} of its ${page} differs, and the limit is ${threshold} %. ` +
      "The screenshots are kept with this operation.",
    { kind: "refused" },
  );
}
