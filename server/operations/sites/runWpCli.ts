/**
 * Runs a WP-CLI command at most once. The start is noted before the command runs. If the step is resumed after that, it
 * does not run the command again: it uses the stored result, or fails because the outcome is unknown.
 *
 * The command and its output may contain secrets, so both are stored encrypted. The command is erased when the
 * operation ends.
 */

import type { WpCliResult } from "@sitewright/contract/operationResults.ts";
import type { EnvironmentRef, WpCliOutcome } from "@sitewright/runtimes/runtime.ts";
import type { Json } from "../../store/database.ts";
import { readResult, recordStart, saveResult } from "../../store/operations.ts";
import { findCommandLimits } from "../../store/sites/commandLimits.ts";
import { measureDiskUse, totalOf } from "../../store/sites/diskUse.ts";
import { clearPageCache } from "../../store/traffic/pageCache.ts";
import { quickBackoff, retryUntilDone } from "../engine/attempt.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import type { EnvironmentInput } from "../steps/environmentInput.ts";
import { phpOf } from "../steps/phpOf.ts";
import type { Services } from "../steps/services.ts";
import { faultOfCommand } from "../steps/wpCliFault.ts";

/** The secret is the command: its arguments without `wp`, as JSON. */
export type RunWpCliInput = {
  readonly environment: EnvironmentInput;
};

const interrupted =
  "The server was restarted during the command. It may have done a part of its work and was not repeated. Check the site before you run it again.";

/** Time to wait for other commands and for PHP to start. */
const waitSeconds = 1_800;

export function runWpCli(services: Services): OperationDefinition<RunWpCliInput> {
  const { database, runtime, sealer, wpCliSeconds } = services;

  /** Returns the current limits, which may have changed since the command was accepted. */
  async function limitsOf(environment: EnvironmentRef) {
    const found = await findCommandLimits(database, environment.id, services.diskQuotaBytes);
    if (found === null) throw new StepFailure("The environment no longer exists.");
    const { memoryMb, maySendMail, quotaBytes } = found;
    if (quotaBytes === null) return { memoryMb, maySendMail, diskLeftBytes: null };
    const use = await runtime.diskUse(environment);
    return { memoryMb, maySendMail, diskLeftBytes: quotaBytes - (use === null ? 0 : totalOf(use)) };
  }

  async function run({ input, operationId, companyId, secret, signal }: StepContext<RunWpCliInput>): Promise<void> {
    const argv = parseArguments(secret());
    const stored = await readResult(database, operationId);
    const result =
      stored === null ? await runNow(argv).catch(unlessStarted) : openWpCliResult(stored, sealer, operationId);
    if (result === null) {
      // The command may have changed something before it was interrupted.
      await clearCache(input.environment, signal);
      await measureAndPublish(services, input.environment, false);
      throw new StepFailure(interrupted);
    }
    const fault = faultOfCommand(argv, result, wpCliSeconds);
    if (fault !== null) throw new StepFailure(fault);

    async function runNow(words: readonly string[]): Promise<WpCliResult> {
      const { version: phpVersion } = await phpOf(database, input.environment.id);
      const limits = await limitsOf(input.environment);
      const command = { companyId, phpVersion, argv: words, seconds: wpCliSeconds, ...limits };
      const noteStart = async () => {
        if (!(await recordStart(database, operationId))) throw new StartedBefore();
      };
      const { mayHaveChanged, ...ended } = await runtime.runWpCli(input.environment, command, noteStart, signal);
      const outcome = asResult(ended);
      const sealed = { sealed: sealer.seal(JSON.stringify(outcome), operationId).toString("base64") };
      // If this process is killed before it has saved the result, the next one clears the cache.
      if (mayHaveChanged) await clearCache(input.environment, signal);
      // Retry: the command has run, and a short database outage must not lose its result.
      const keep = { backoff: quickBackoff, stop: signal, onFailure: () => undefined };
      await retryUntilDone(() => saveResult(database, operationId, sealed), keep);
      await measureAndPublish(services, input.environment, limits.diskLeftBytes !== null);
      return outcome;
    }
  }

  /** Clears cached pages, which the command may have made stale. */
  async function clearCache({ id }: EnvironmentRef, stop: AbortSignal): Promise<void> {
    await retryUntilDone(() => clearPageCache(database, id), {
      backoff: quickBackoff,
      stop,
      onFailure: () => undefined,
    });
  }

  return {
    kind: "runWpCli",
    steps: [{ name: "run", deadlineSeconds: waitSeconds + wpCliSeconds, run }],
    succeeded: (transaction, { operationId }) => readResult(transaction, operationId),
    failed: async () => undefined,
    failureResult: (transaction, { operationId }) => readResult(transaction, operationId),
  };
}

/** Another process has started the command in the meantime. */
class StartedBefore extends Error {}

function unlessStarted(error: unknown): null {
  if (error instanceof StartedBefore) return null;
  throw error;
}

/**
 * Updates the remaining disk quota, and tells the edge about it and the cleared cache. Errors are ignored: both happen again
 * soon after every operation.
 */
async function measureAndPublish(
  { database, runtime, publisher }: Services,
  environment: EnvironmentRef,
  hasQuota: boolean,
): Promise<void> {
  try {
    if (hasQuota) await measureDiskUse(database, environment, (each) => runtime.diskUse(each));
    await publisher.publish();
  } catch {
    // The command itself has succeeded.
  }
}

/** Returns the stored result of a command, or null if only its start was noted. */
export function openWpCliResult(stored: Json, sealer: Services["sealer"], operationId: string): WpCliResult | null {
  if (typeof stored !== "object" || stored === null || !("sealed" in stored)) return null;
  const opened: unknown = JSON.parse(sealer.open(Buffer.from(String(stored.sealed), "base64"), operationId));
  if (!isResult(opened)) throw new Error(`The stored result of ${operationId} is not a WP-CLI result`);
  return opened;
}

function isResult(value: unknown): value is WpCliResult {
  return typeof value === "object" && value !== null && "stdout" in value && "exit_code" in value;
}

function parseArguments(secret: string): readonly string[] {
  const words: unknown = JSON.parse(secret);
  if (!Array.isArray(words)) throw new Error("The secret of a WP-CLI command is not a list of arguments");
  return words.map(String);
}

function asResult({ stdout, stderr, exitCode, end }: Omit<WpCliOutcome, "mayHaveChanged">): WpCliResult {
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
