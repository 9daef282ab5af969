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

test("an error that only counts comes with the first reason", () => {
  const stderr =
    "Warning: shop: It is too old.\nWarning: The 'shop' plugin could not be found.\nError: No plugins installed.";
  expect(fault({ exit_code: 1, stderr }, ["plugin", "install", "shop"])).toBe(
    "Error: No plugins installed. shop: It is too old.",
  );
  const some = "Warning: The 'tea' plugin could not be found.\nError: Only activated 1 of 2 plugins.";
  expect(fault({ exit_code: 1, stderr: some })).toBe(
    "Error: Only activated 1 of 2 plugins. The 'tea' plugin could not be found.",
  );
});

test("the reason has no HTML, but the names of values that are missing", () => {
  const stderr =
    'Error: Something&#8217;s wrong &amp; you <strong>can</strong> try <a href="https://x.example/">this</a>.';
  expect(fault({ exit_code: 1, stderr })).toBe("Error: Something’s wrong & you can try this.");
  expect(fault({ exit_code: 1, stdout: "usage: wp option get <key> <a>" }, ["option", "get"])).toContain("get <key>");
});

test("PHP's own limit of memory is no jargon", () => {
  const stderr =
    "PHP Fatal error:  Allowed memory size of 268435456 bytes exhausted (tried to allocate 10485760 bytes)";
  expect(fault({ exit_code: 255, stderr }, ["i18n", "make-pot", "."])).toBe(
    "The command was ended because it used too much memory. It may have done a part of its work.",
  );
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
