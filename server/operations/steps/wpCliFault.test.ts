import type { WpCliResult } from "@sitewright/contract/operationResults.ts";
import { expect, test } from "vitest";
import { faultOfCommand } from "./wpCliFault.ts";

function result(changes: Partial<WpCliResult>): WpCliResult {
  return {
    stdout: "",
    stderr: "",
    exit_code: 0,
    ended_by: "itself",
    stdout_bytes: 0,
    stderr_bytes: 0,
    stdout_truncated: false,
    stderr_truncated: false,
    ...changes,
  };
}

const fault = (changes: Partial<WpCliResult>, argv: readonly string[] = ["plugin", "list"]) =>
  faultOfCommand(argv, result(changes), 300);

test("exit code 0 is success, even with warnings", () => {
  expect(fault({ stderr: "Warning: something" })).toBeNull();
});

test("the first error of WP-CLI is the reason", () => {
  const stderr = "Warning: first\nError: That is wrong.\nError: another";
  expect(fault({ exit_code: 1, stderr })).toBe("Error: That is wrong.");
  expect(fault({ exit_code: 255, stderr: "PHP Fatal error:  Uncaught Error" })).toBe(
    "PHP Fatal error:  Uncaught Error",
  );
  expect(fault({ exit_code: 3, stdout: "some" })).toBe("The command ended with exit code 3.");
});

test("without an error, the last warning is the reason", () => {
  const stderr = "Warning: Failed deleting comment 1.\nWarning: Failed deleting comment 2.\n";
  expect(fault({ exit_code: 1, stderr })).toBe("Warning: Failed deleting comment 2.");
});

test("missing words and wrong options are named", () => {
  expect(fault({ exit_code: 1, stdout: "usage: wp cache add <key> <value>\n" })).toBe(
    "Words are missing after the command. usage: wp cache add <key> <value>",
  );
  const stderr = "Error: Parameter errors:\n missing --dbname parameter (Name.)\n unknown --x parameter\n";
  expect(fault({ exit_code: 1, stderr })).toBe(
    "Error: Parameter errors: missing --dbname parameter (Name.), unknown --x parameter",
  );
});

test("silence means no", () => {
  expect(fault({ exit_code: 1 }, ["plugin", "is-active", "shop"])).toBe(
    "The command ended with exit code 1 and printed nothing, which means no.",
  );
});

test("an unavailable command of the handbook gets another message than an unknown one", () => {
  const unknown = (name: string) =>
    `Error: '${name}' is not a registered wp command. See 'wp help' for available commands.`;
  expect(fault({ exit_code: 1, stderr: unknown("doctor") }, ["doctor"])).toBe(
    "wp doctor is not available. It is in a WP-CLI package, and packages are not kept here.",
  );
  expect(fault({ exit_code: 1, stderr: unknown("toString") })).toBe(unknown("toString"));
});

test("the runtime's advice follows the reason", () => {
  const stderr = `Error: ${"x".repeat(400)}\nHint: Add --skip-plugins.\n`;
  expect(fault({ exit_code: 255, stderr })).toMatch(/^Error: x{293}… Hint: Add --skip-plugins\.$/);
});

test.each(["time", "output", "memory", "crash"] as const)(
  "a command that was ended by %s may have done a part of its work",
  (end) => {
    expect(fault({ exit_code: null, ended_by: end })).toContain("a part of its work");
  },
);

test("an unanswered question is a failure, although WP-CLI reports success", () => {
  expect(fault({ stdout: "Are you sure? [y/n] " })).toContain("--yes");
});

test.each([
  [["user", "create", "bob", "--user_pass=hunter2"], "Error: hunter2 is too short"],
  [["config", "set", "DB_PASSWORD", "hunter2"], "Error: can't set hunter2"],
  [["eval", "hunter2"], "Error: unexpected hunter2"],
])("the reason hides the secrets of %j", (argv, stderr) => {
  expect(fault({ exit_code: 1, stderr }, argv)).not.toContain("hunter2");
});
