/** Chooses and checks the ports to listen on, before any process is started. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

interface WantedPort {
  /** 0 for any free port. */
  readonly port: number;
  /** What listens there, for error messages. */
  readonly purpose: string;
  readonly setting: string;
  /** Where it listens, if not on the common host, and the setting of that. */
  readonly host?: string;
  readonly hostSetting?: string;
}

/**
 * Resolves to a free port for each entry, in order. Throws with one line per distinct problem.
 * `preferred` replaces a port of 0 if it is free, because sites' URLs contain the port.
 * `ours` are TCP ports on which we already listen, so they need not be free. `timeoutMs` is how long to wait for a port to become free.
 */
export async function findPorts(
  host: string,
  wanted: readonly (WantedPort & { readonly preferred?: number | undefined })[],
  ours: ReadonlySet<number> = new Set(),
  timeoutMs = 0,
): Promise<number[]> {
  const deadline = Date.now() + timeoutMs;
  const found: number[] = [];
  const problems: string[] = [];
  for (const entry of wanted) {
    const choices = entry.port === 0 ? [entry.preferred ?? [], randomPorts()].flat() : [entry.port];
    const result = await firstFree(entry.host ?? host, choices, { taken: found, ours }, deadline);
    if (typeof result === "number") {
      found.push(result);
    } else {
      problems.push(explain(result, { host, hostSetting: "SITEWRIGHT_HOST", ...entry }));
    }
  }
  if (problems.length > 0) {
    // A problem with the address is the same for each port.
    throw new Error([...new Set(problems)].join("\n"));
  }
  return found;
}

/**
 * Outside the ephemeral range, which the system would choose from for port 0: an outgoing connection could get such a
 * port before the process listens on it.
 */
function randomPorts(): number[] {
  return Array.from({ length: 50 }, () => randomInt(20_000, 32_000));
}

async function firstFree(
  host: string,
  choices: readonly number[],
  { taken, ours }: { readonly taken: readonly number[]; readonly ours: ReadonlySet<number> },
  deadline: number,
): Promise<number | Error> {
  let last: number | Error = new Error("No port to try");
  for (const choice of choices) {
    if (taken.includes(choice)) last = wantedTwice();
    else if (ours.has(choice)) return choice;
    else last = await tryPort(host, choice);
    while (isInUse(last) && Date.now() < deadline) {
      await delay(50);
      last = await tryPort(host, choice);
    }
    if (typeof last === "number") {
      return last;
    }
  }
  return last;
}

/** Another of the wanted ports is the same. */
const sameCode = "ESAME";
const wantedTwice = () => Object.assign(new Error(), { code: sameCode });
const isInUse = (result: number | Error) =>
  typeof result !== "number" && "code" in result && result.code === "EADDRINUSE";

/** Listens on the port briefly. Resolves to the port, or to the error. */
function tryPort(host: string, port: number): Promise<number | Error> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on("error", resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(port)));
  });
}

function explain(error: Error, { port, purpose, setting, host, hostSetting }: Required<WantedPort>): string {
  const code = "code" in error ? error.code : undefined;
  if (isInUse(error)) {
    return `Port ${port} (${purpose}) is in use by another program. Stop that program, or set ${setting} to another port.`;
  }
  if (code === sameCode) {
    return `Port ${port} (${purpose}) is already the port of another setting. Set ${setting} to another port.`;
  }
  if (code === "EACCES") {
    const allowed =
      process.platform === "linux" ? `, or allow it: sudo sysctl net.ipv4.ip_unprivileged_port_start=${port}` : ".";
    return `This user can't listen on port ${port} (${purpose}). Set ${setting} to a port of 1024 or higher${allowed}`;
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return `${host} is not an address of this machine. Set ${hostSetting} to one that is, such as 127.0.0.1.`;
  }
  return `Port ${port} (${purpose}) can't be used: ${error.message}. Set ${setting} to another port.`;
}
