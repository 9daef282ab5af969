/** Explains in one sentence why a WP-CLI command failed, for the operation and the activity log. */
import type { WpCliResult } from "@sitewright/contract/operationResults.ts";

const longestLine = 300;
const tooMuchMemory = "The command was ended because it used too much memory. It may have done a part of its work.";
/** Names of options and of `config set` values that must not appear in logs. */
const secretName = /pass|pwd|secret|token|key|salt|hash|auth|credential/i;
const shortestSecret = 3;

/** Returns null if the command succeeded. */
export function faultOfCommand(argv: readonly string[], result: WpCliResult, seconds: number): string | null {
  const { exit_code: code, ended_by: end, stdout } = result;
  if (end === "time") {
    return `The command was ended after the limit of ${seconds} seconds. It may have done a part of its work.`;
  }
  if (end === "output") {
    return "The command was ended because it printed more than 64 MiB. It may have done a part of its work.";
  }
  if (end === "memory") return tooMuchMemory;
  if (end === "crash") return "PHP crashed during the command. It may have done a part of its work.";
  // WP-CLI reports success if its question remains unanswered.
  if (/\[y\/n\]\s*$/.test(stdout)) {
    return "The command asked for confirmation and did nothing, because it runs without a terminal. Add --yes.";
  }
  return code === 0 ? null : failure(argv, result);
}

const inPackage = "It is in a WP-CLI package, and packages are not kept here.";
const inNewer = "It comes with WP-CLI 3, and this is WP-CLI 2.";

/** Why commands of WP-CLI's handbook are missing. Plugins may have commands of the same names. */
const notHere: Readonly<Record<string, string>> = {
  ability: inNewer,
  admin: inPackage,
  block: inNewer,
  "dist-archive": inPackage,
  doctor: inPackage,
  find: inPackage,
  profile: inPackage,
};

/** Commands such as `plugin is-active` say no in this way. */
function silentFailure({ stdout, stderr, exit_code: code }: WpCliResult): string {
  const ended = `The command ended with exit code ${code}`;
  return stdout.trim() === "" && stderr.trim() === "" ? `${ended} and printed nothing, which means no.` : `${ended}.`;
}

function failure(argv: readonly string[], result: WpCliResult): string {
  const { stderr, stdout } = result;
  // WP-CLI lists wrong options in indented lines below the error.
  const text = `${stderr}\n${stdout}`.replace(/^(Error: Parameter errors:)((?:\n +\S.*)+)/gm, (_, error, below) =>
    [error, below.trim().split(/\n +/).join(", ")].join(" "),
  );
  if (/^(?:PHP )?Fatal error: +(?:Allowed memory size|Out of memory)/m.test(text)) return tooMuchMemory;
  const lines = text.split("\n").map((one) => withoutHtml(one).trim());
  const line = reasonIn(lines);
  const usage = lines.find((one) => one.startsWith("usage: "));
  if (line === undefined && usage !== undefined)
    return `Words are missing after the command. ${usage.slice(0, longestLine)}`;
  if (line === undefined) return silentFailure(result);
  const [, missing = ""] = /^Error: '([^' ]+)' is not a registered wp command\./.exec(line) ?? [];
  const elsewhere = Object.hasOwn(notHere, missing) ? notHere[missing] : undefined;
  if (elsewhere !== undefined) return `wp ${missing} is not available. ${elsewhere}`;
  const shown = withoutSecrets(line, argv);
  const cut = shown.length > longestLine ? `${shown.slice(0, longestLine)}…` : shown;
  // The runtime's advice for sites that can't be loaded.
  const hint = lines.find((one) => one.startsWith("Hint: "));
  return hint === undefined ? cut : `${cut} ${hint.slice(0, longestLine)}`;
}

/** Returns the line that says why the command failed, or undefined. */
function reasonIn(lines: readonly string[]): string | undefined {
  const error = lines.find((one) => /^(?:PHP )?(?:Error|Fatal error|Parse error):/i.test(one));
  if (error === undefined) return lines.findLast((one) => one.startsWith("Warning:"));
  // The first warning says why; the error only counts what failed.
  const warning = /^Error: (?:No|Only \S+ \d+ of \d+) [^.]*\.?$/.test(error)
    ? lines.find((one) => one.startsWith("Warning: "))
    : undefined;
  return warning === undefined ? error : `${error} ${warning.slice("Warning: ".length)}`;
}

const characters: Readonly<Record<string, string>> = { amp: "&", apos: "'", gt: ">", lt: "<", nbsp: " ", quot: '"' };

/** WordPress and plugins write some errors for web pages. Words such as `<key>`, for which WP-CLI wants a value, stay. */
function withoutHtml(line: string): string {
  return line
    .replace(/<\/?(?:a|b|br|code|div|em|i|li|p|pre|small|span|strong|ul)(?:\s[^<>]*)?\/?>/gi, "")
    .replace(/&(?:#(\d{1,6})|(\w{1,8}));/g, (entity, number: string | undefined, name: string | undefined) =>
      number === undefined ? (characters[name ?? ""] ?? entity) : String.fromCodePoint(Number(number)),
    );
}

function withoutSecrets(line: string, argv: readonly string[]): string {
  return secretsOf(argv)
    .filter((secret) => secret.length >= shortestSecret)
    .toSorted((one, other) => other.length - one.length)
    .reduce((text, secret) => text.replaceAll(secret, "***"), line);
}

/** Returns the values of secret options (`--user_pass=…`) and settings (`config set DB_PASSWORD …`), and PHP code. */
function secretsOf(argv: readonly string[]): string[] {
  const [command] = argv;
  return argv.flatMap((word, index) => {
    const [, name = "", value = ""] = /^--([^=]+)=(.*)$/s.exec(word) ?? [];
    if (secretName.test(name) || name === "exec") return [value];
    if (command === "eval" && index > 0 && !word.startsWith("-")) return [word];
    const isNamed = index > 0 && !word.startsWith("-") && secretName.test(argv[index - 1] ?? "");
    return isNamed && !(argv[index - 1] ?? "").startsWith("-") ? [word] : [];
  });
}
