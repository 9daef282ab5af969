/** Whether an environment still looks as it did before an update, to a browser. */
import { StepFailure } from "../engine/operation.ts";
import { patientlySee } from "./patientTrial.ts";
import type { Services } from "./services.ts";
import type { Candidate } from "./trial.ts";

export interface LookAlikeWish {
  /** Names the pictures. */
  readonly id: string;
  readonly before: Candidate;
  readonly after: Candidate;
  /** The front page is looked at besides. */
  readonly paths: readonly string[];
  /** From 0 to 100: so much of a picture may be another. */
  readonly threshold: number;
}

/** For what a page consists of, each. */
const patienceSeconds = 90;

const percent = (share: number) => `${Math.round(share * 1_000) / 10} %`;

/**
 * Keeps pictures of both. Rejects with `StepFailure` if a page has become another than it may. Where there is no browser, nobody
 * looks.
 */
export async function requireVisualMatch(
  { pictures, see }: Pick<Services, "pictures" | "see">,
  { id, before, after, paths, threshold }: LookAlikeWish,
  signal: AbortSignal,
): Promise<void> {
  if (pictures === null) return;
  const wish = {
    id,
    host: new URL(after.address).host,
    paths: [...new Set(["/", ...paths])],
    before: patientlySee(see(before), patienceSeconds),
    after: patientlySee(see(after), patienceSeconds),
  };
  const differences = await pictures.compare(wish, signal).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new StepFailure("No pictures could be taken of the site before the update and after it.", { cause });
  });
  const [worst] = differences.toSorted((one, other) => other.share - one.share);
  if (worst === undefined || worst.share * 100 <= threshold) return;
  const page = worst.path === "/" ? "front page" : `page ${worst.path}`;
  throw new StepFailure(
    `${after.what} looks different: ${percent(worst.share)} of its ${page} is another, and ${threshold} % may be. ` +
      "Pictures of both are kept with this operation.",
    { kind: "refused" },
  );
}
