/** The state of the installation, for users who are its operators. */
import { statfs } from "node:fs/promises";
import { readInstallationFacts } from "@sitewright/server/store/installationFacts.ts";
import { readInstallationNumbers } from "@sitewright/server/store/installationMetrics.ts";
import type { Context } from "../context.ts";
import { NotFound, PasswordChangeRequired, SecondFactorRequired } from "../failures.ts";

/** Throws `NotFound` unless the user is an operator, and `PasswordChangeRequired` or `SecondFactorRequired`. */
export async function get(context: Context) {
  const { caller, database, dataFolder, edgeNumbers, installation } = context;
  if (!caller.isOperator) throw new NotFound();
  if (caller.mustChangePassword) throw new PasswordChangeRequired();
  if (caller.mustAddSecondFactor) throw new SecondFactorRequired();
  const [numbers, facts, edge, hasDns, disk, { findings, at }] = await Promise.all([
    readInstallationNumbers(database),
    readInstallationFacts(database),
    edgeNumbers(),
    installation.dnsAnswers(),
    statfs(dataFolder),
    installation.examine(),
  ]);
  return {
    versions: {
      sitewright: installation.version,
      node: process.versions.node,
      database: facts.databaseVersion,
      platform: `${process.platform} ${process.arch}`,
    },
    processes: processesOf(edge !== null, hasDns),
    workers: edge && workersOf(edge, context.limits.maxWorkers),
    disk: {
      total_bytes: disk.blocks * disk.bsize,
      free_bytes: disk.bavail * disk.bsize,
      environments_bytes: numbers.environmentBytes,
      database_bytes: facts.databaseBytes,
    },
    content: { companies: facts.companies, sites: numbers.sites, environments: sumOf(numbers.environments) },
    queue: {
      waiting: numbers.operations.waiting ?? 0,
      running: numbers.operations.running ?? 0,
      longest_wait_seconds: numbers.longestWaitSeconds,
      succeeded: numbers.operations.succeeded ?? 0,
      failed: numbers.operations.failed ?? 0,
    },
    archives: archivesOf(numbers.backups, facts),
    findings: findings.map(({ level, text }) => ({ level, text })),
    findings_at: at.toISOString(),
  };
}

const sumOf = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((sum, one) => sum + one, 0);

function processesOf(hasEdge: boolean, hasDns: boolean) {
  const unknown = { memory_bytes: null, running_seconds: null };
  return [
    {
      name: "control" as const,
      answers: true,
      memory_bytes: process.memoryUsage.rss(),
      running_seconds: Math.round(process.uptime()),
    },
    { name: "edge" as const, answers: hasEdge, ...unknown },
    { name: "dns" as const, answers: hasDns, ...unknown },
    // Otherwise this could not have been read.
    { name: "database" as const, answers: true, ...unknown },
  ];
}

type EdgeNumbers = NonNullable<Awaited<ReturnType<Context["edgeNumbers"]>>>;

function workersOf({ workers, preparedWorkers }: EdgeNumbers, maximum: number) {
  const busy = workers.filter((worker) => worker.busy).length;
  return { maximum, busy, idle: workers.length - busy, prepared: preparedWorkers };
}

type BackupNumbers = Awaited<ReturnType<typeof readInstallationNumbers>>["backups"];

function archivesOf(
  { oldestSeconds, pending, missing, failing, damaged }: BackupNumbers,
  { backups, packBytes }: Awaited<ReturnType<typeof readInstallationFacts>>,
) {
  // A clock that was set back makes the age negative.
  const oldest_newest_seconds = Math.max(0, oldestSeconds);
  return { backups, stored_bytes: packBytes, oldest_newest_seconds, pending, missing, failing, damaged };
}
