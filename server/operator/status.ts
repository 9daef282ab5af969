/** `status`: the state of the processes, and their current work. */
import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { readInstallation, readRun } from "@sitewright/supervisor/records.ts";
import { makeDnsClient } from "../clients/dnsClient.ts";
import { type EdgeStatus, makeEdgeClient } from "../clients/edgeClient.ts";
import type { Config } from "../settings/config.ts";
import { type InstallationNumbers, readInstallationNumbers } from "../store/installationMetrics.ts";
import type { Run } from "./command.ts";
import { notRunning, withRunningDatabase } from "./database.ts";
import { exitFailed, Failure } from "./failure.ts";
import { durationOf, plural, sizeOf } from "./formatting.ts";

const timeoutMilliseconds = 3_000;

export const status: Run = async ({ flags }, { config }) => {
  const run = readRun(config.data);
  if (run === null && config.databaseUrl === null) throw new Failure(notRunning(config), exitFailed);
  const [numbers, edge, dns, api, disk] = await Promise.all([
    withRunningDatabase(config, readInstallationNumbers),
    makeEdgeClient(join(config.run, "edge.sock"))
      .status(AbortSignal.timeout(timeoutMilliseconds))
      .catch(() => null),
    dnsStatus(config),
    answers(run?.api_url ?? null),
    statfs(config.data),
  ]);
  const free = disk.bavail * disk.bsize;
  const facts = {
    process: run?.pid ?? null,
    api_url: run?.api_url ?? null,
    api,
    edge,
    dns,
    numbers,
    disk_free_bytes: free,
  };
  return flags.json === true ? JSON.stringify(facts) : format(config, facts);
};

/** Null if the built-in DNS server does not answer. */
export async function dnsStatus({ powerDns, run, host }: Config): Promise<DnsStatus | null> {
  if (powerDns !== null) return { server: "powerdns", address: powerDns.address };
  const answer = await makeDnsClient(join(run, "dns.sock"), host)
    .status()
    .catch(() => null);
  return answer === null ? null : { server: "own", port: answer.port };
}

type DnsStatus =
  | { readonly server: "own"; readonly port: number }
  | { readonly server: "powerdns"; readonly address: string };

async function answers(url: string | null): Promise<boolean> {
  if (url === null) return false;
  const answer = await fetch(`${url}/openapi.json`, { signal: AbortSignal.timeout(timeoutMilliseconds) }).catch(
    () => null,
  );
  await answer?.body?.cancel();
  return answer?.ok ?? false;
}

interface Facts {
  readonly process: number | null;
  readonly api_url: string | null;
  readonly api: boolean;
  readonly edge: EdgeStatus | null;
  readonly dns: DnsStatus | null;
  readonly numbers: InstallationNumbers;
  readonly disk_free_bytes: number;
}

function format(config: Config, { process: pid, api_url, api, edge, dns, numbers, disk_free_bytes }: Facts): string {
  const { operations, backups } = numbers;
  const environments = Object.values(numbers.environments).reduce((sum, count) => sum + count, 0);
  const port = readInstallation(config.data)?.edgePort ?? config.edgePort;
  const count = (state: string) => operations[state] ?? 0;
  const waiting = count("waiting") === 0 ? "" : `, the longest for ${durationOf(numbers.longestWaitSeconds)}`;
  const rows = [
    ["API", `${api_url ?? "unknown address"} ${api ? "answers" : "does not answer: see the log of control"}`],
    [
      "Edge",
      edge === null ? "does not answer: see the log of edge" : `answers on port ${port}, ${phpOf(edge, config)}`,
    ],
    ["DNS", dnsOf(dns)],
    [
      "Content",
      `${plural(numbers.sites, "site")}, ${plural(environments, "environment")}, ${sizeOf(numbers.environmentBytes)}`,
    ],
    ["Operations", `${count("running")} running, ${count("waiting")} waiting${waiting}`],
    ["", `last 24 hours: ${count("succeeded")} succeeded, ${count("failed")} failed`],
    ["Backups", backupsOf(backups)],
    ["Disk", `${sizeOf(disk_free_bytes)} free`],
  ];
  const head = pid === null ? "Sitewright:" : `Sitewright is running on ${config.data} (process ${pid}).`;
  return [head, ...rows.map(([name = "", text = ""]) => `  ${name.padEnd(10)}  ${text}`)].join("\n");
}

function dnsOf(dns: DnsStatus | null): string {
  if (dns === null) return "does not answer: see the log of dns";
  return dns.server === "own" ? `answers on port ${dns.port}` : `PowerDNS at ${dns.address}`;
}

function phpOf({ workers, preparedWorkers }: EdgeStatus, { maxWorkers }: Config): string {
  const busy = workers.filter((worker) => worker.busy).length;
  return `${workers.length} of ${maxWorkers} PHP processes (${busy} busy), ${preparedWorkers} prepared`;
}

function backupsOf({ pending, missing, failing, damaged, oldestSeconds }: InstallationNumbers["backups"]): string {
  const notes = [
    ...(pending > 0 ? [`${plural(pending, "environment")} not backed up yet`] : []),
    ...(missing > 0 ? [`${plural(missing, "environment")} without a backup`] : []),
    ...(failing > 0 ? [`${plural(failing, "environment")} with a failed last backup`] : []),
    ...(damaged > 0 ? [`${plural(damaged, "damaged backup")}`] : []),
  ];
  const newest = oldestSeconds === 0 ? [] : [`newest of each environment at most ${durationOf(oldestSeconds)} old`];
  const all = [...newest, ...notes];
  return all.length === 0 ? "nothing to back up yet" : all.join(", ");
}
