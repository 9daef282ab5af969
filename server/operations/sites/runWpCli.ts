/**
 * A command of WP-CLI, at most once. That it begins is noted before it does, and a step that is entered anew after that
 * runs nothing: it goes by what came of the command, or says that nobody knows.
 *
 * The command and what it prints may hold secrets. The one is sealed until the operation ends, the other for as long as
 * it can be read.
 */

import type { EnvironmentRef, WpCliOutcome } from "@sitewright/runtimes/runtime.ts";
import type { Json } from "../../store/database.ts";
import { noteBegun, readResult, saveResult } from "../../store/operations.ts";
import { findCommandLimits } from "../../store/sites/commandLimits.ts";
import { measureDiskUse } from "../../store/sites/diskUse.ts";
import { forgetPages } from "../../store/traffic/pageCache.ts";
import { insist, quickPace } from "../engine/attempt.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { phpOf } from "../steps/phpOf.ts";
import type { Services } from "../steps/services.ts";
import { faultOfCommand } from "../steps/wpCliFault.ts";
import type { WpCliResult } from "../steps/wpCliResult.ts";

/** The secret is the command: JSON of its words, without `wp`. */
export type RunWpCliInput = {
  readonly environment: { readonly id: string; readonly number: number };
};

const interrupted =
  "The server was restarted while the command ran. It may have done a part of its work, and was not begun again: see what is there before you repeat it.";

/** To wait for other commands, and to boot. */
const waitSeconds = 1_800;

export function runWpCli(services: Services): OperationDefinition<RunWpCliInput> {
  const { database, runtime, sealer, wpCliSeconds } = services;

  /** Its present limits, which may have changed since the command was accepted, as may the files. */
  async function shareOf(environment: EnvironmentRef) {
    const found = await findCommandLimits(database, environment.id, services.diskQuotaBytes);
    if (found === null) throw new StepFailure("The environment is not there any more.");
    const { memoryMb, maySendMail, quotaBytes } = found;
    if (quotaBytes === null) return { memoryMb, maySendMail, diskLeftBytes: null };
    const use = await runtime.diskUse(environment);
    return { memoryMb, maySendMail, diskLeftBytes: quotaBytes - (use === null ? 0 : use.files + use.database) };
  }

  async function run({ input, operationId, secret, signal }: StepContext<RunWpCliInput>): Promise<void> {
    const argv = wordsOf(secret());
    const before = await readResult(database, operationId);
    const result = before === null ? await runNow(argv) : openWpCliResult(before, sealer, operationId);
    if (result === null) throw new StepFailure(interrupted);
    const fault = faultOfCommand(argv, result, wpCliSeconds);
    if (fault !== null) throw new StepFailure(fault);

    async function runNow(words: readonly string[]): Promise<WpCliResult> {
      const { version: phpVersion } = await phpOf(database, input.environment.id);
      const share = await shareOf(input.environment);
      const command = { phpVersion, argv: words, seconds: wpCliSeconds, ...share };
      const begin = async () => {
        if (!(await noteBegun(database, operationId))) throw new StepFailure(interrupted);
      };
      const outcome = asResult(await runtime.runWpCli(input.environment, command, begin, signal));
      const sealed = { sealed: sealer.seal(JSON.stringify(outcome), operationId).toString("base64") };
      // The command is done: a short outage of the database must not make its outcome unknown.
      const keep = { pace: quickPace, stop: signal, onFailure: () => undefined };
      await insist(() => saveResult(database, operationId, sealed), keep);
      await tellEdge(services, input.environment, share.diskLeftBytes !== null);
      return outcome;
    }
  }

  return {
    kind: "runWpCli",
    steps: [{ name: "run", deadlineSeconds: waitSeconds + wpCliSeconds, run }],
    succeeded: (transaction, { operationId }) => readResult(transaction, operationId),
    failed: async () => undefined,
    keptOfFailure: (transaction, { operationId }) => readResult(transaction, operationId),
  };
}

/**
 * Cached pages may be of before the command. And visitors' PHP may fill what is left now, and no more: where this fails, the
 * environment is measured soon all the same, because an operation on it has ended.
 */
async function tellEdge(
  { database, runtime, publisher }: Services,
  environment: EnvironmentRef,
  hasQuota: boolean,
): Promise<void> {
  try {
    await forgetPages(database, environment.id);
    if (hasQuota) await measureDiskUse(database, environment, (each) => runtime.diskUse(each));
    await publisher.publish();
  } catch {
    // The command is done, whatever is known of it elsewhere.
  }
}

/** What is stored of a command that was run; null if nothing but its beginning is known. */
export function openWpCliResult(stored: Json, sealer: Services["sealer"], operationId: string): WpCliResult | null {
  if (typeof stored !== "object" || stored === null || !("sealed" in stored)) return null;
  const opened: unknown = JSON.parse(sealer.open(Buffer.from(String(stored.sealed), "base64"), operationId));
  if (!isResult(opened)) throw new Error(`What ${operationId} has kept of its command is something else`);
  return opened;
}

function isResult(value: unknown): value is WpCliResult {
  return typeof value === "object" && value !== null && "stdout" in value && "exit_code" in value;
}

function wordsOf(secret: string): readonly string[] {
  const words: unknown = JSON.parse(secret);
  if (!Array.isArray(words)) throw new Error("The secret of a command of WP-CLI is no list of words");
  return words.map(String);
}

function asResult({ stdout, stderr, exitCode, end }: WpCliOutcome): WpCliResult {
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    exit_code: exitCode,
    ended_by: end,
    stdout_bytes: stdout.bytes,
    stderr_bytes: stderr.bytes,
    stdout_truncated: stdout.isTruncated,
    stderr_truncated: stderr.isTruncated,
  };
}
