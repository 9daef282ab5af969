/** `doctor`: checks the machine and the settings. */
import { confinementProblem, namespacesAdvice } from "@sitewright/runtimes/confinement.ts";
import { hasNoNewPrivileges } from "@sitewright/runtimes/expendable.ts";
import { freeDisk } from "@sitewright/runtimes/freeDisk.ts";
import { useUsersFrom } from "@sitewright/runtimes/owner.ts";
import { machineMemory } from "@sitewright/runtimes/processMemory.ts";
import { hasProcessorGroups } from "@sitewright/runtimes/processor/groups.ts";
import { nearestExisting } from "@sitewright/supervisor/dataFolder.ts";
import { readLastStart, readRun } from "@sitewright/supervisor/records.ts";
import { chooseUserIds, foreignSite, overlapOf } from "@sitewright/supervisor/userIds.ts";
import { findChromium, hasSandbox } from "../screenshots/chromium.ts";
import { type Config, loadConfig } from "../settings/config.ts";
import { leastBytes } from "../settings/maxWorkers.ts";
import { readInstallationNumbers } from "../store/installationMetrics.ts";
import { lastChecks } from "../store/packages/packageChecks.ts";
import type { CommandContext, Run } from "./command.ts";
import { withRunningDatabase } from "./database.ts";
import { exitFailed } from "./failure.ts";
import { type Finding, type Level, note, ok, problem } from "./finding.ts";
import { plural, sizeOf } from "./formatting.ts";
import { nativeRuntime } from "./nativeRuntime.ts";
import { signInProviderFinding } from "./signInProvider.ts";

const marks: Readonly<Record<Level, string>> = { ok: "ok      ", note: "note    ", problem: "PROBLEM " };

export const doctor: Run = async ({ flags }, context) => {
  const config = effectiveConfig(context);
  useUsersFrom(config.firstUserId);
  const findings = await findingsOf(config);
  const problems = findings.filter(({ level }) => level === "problem").length;
  const lines = findings.map(({ level, text: words }) => `${marks[level]} ${words}`).join("\n");
  const sum = `${problems === 0 ? "No problems" : plural(problems, "problem")} found.`;
  const text = flags.json === true ? JSON.stringify(findings) : `${lines}\n\n${sum}`;
  return { text, exitCode: problems > 0 ? exitFailed : 0 };
};

/** Examines the machine and these settings, with which the installation runs. */
export async function findingsOf(config: Config): Promise<readonly Finding[]> {
  const source = await packageSource(config);
  return [
    ...machine(config),
    ...(await separation(config)),
    ...processor(config),
    ...(await nativeRuntime(config)),
    await disk(config),
    ...network(config),
    source,
    ...features(config),
    ...(await signInProviderFinding(config)),
    await screenshots(config),
    ...(await content(config, source)),
  ];
}

/** The settings of the running installation, which may differ from this terminal's, or of the next start. */
function effectiveConfig({ config, env }: Pick<CommandContext, "config" | "env">): Config {
  const isRunning = readRun(config.data) !== null;
  const settings = isRunning ? readLastStart(config.data) : null;
  const effective = settings === null ? config : loadConfig({ ...env, ...settings, SITEWRIGHT_DATA: config.data });
  return { ...effective, firstUserId: chooseUserIds(config, isRunning ? {} : env) };
}

function machine({ maxWorkers, preparedWorkers, regions }: Config): Finding[] {
  const memoryBytes = machineMemory();
  const wanted = leastBytes(regions, maxWorkers, preparedWorkers);
  const memory =
    wanted > memoryBytes
      ? problem(
          `Memory: ${maxWorkers} PHP processes and ${preparedWorkers} prepared ones can use ${sizeOf(wanted)}, but the machine has only ${sizeOf(memoryBytes)}. Lower SITEWRIGHT_MAX_WORKERS.`,
        )
      : ok(`Memory: ${sizeOf(memoryBytes)}, enough for ${maxWorkers} PHP processes.`);
  const user =
    process.getuid?.() === 0
      ? ok("User: root, so each environment's PHP runs as its own user.")
      : note("User: not root, so all sites' PHP runs as the same user. Start as root to separate them.");
  return [memory, user];
}

/** How companies share the processors. Nothing if the installation is not running. */
function processor({ data }: Config): Finding[] {
  const run = readRun(data);
  if (run === null) return [];
  return [
    hasProcessorGroups(data, run.pid)
      ? ok("Processors: divided equally between companies, by control groups.")
      : note(
          "Processors: busy companies get only a lower priority. To divide the processors equally, start Sitewright as root, with systemd as a service with Delegate=yes.",
        ),
  ];
}

/** How well processes that run sites' code, or read their databases, are separated from the rest of the machine. */
async function separation(config: Config): Promise<Finding[]> {
  if (process.platform !== "linux") return [];
  const privileges = hasNoNewPrivileges
    ? ok("Sites' processes can't gain privileges.")
    : note(
        "Sites' processes may gain privileges through programs of this machine: setpriv is missing. Install util-linux.",
      );
  if (process.getuid?.() !== 0) return [privileges];
  const reason = await confinementProblem();
  const databases =
    reason === null
      ? ok("Sites' databases are read by processes without root, network and access to other files.")
      : note(
          `Sites' databases are read by processes of the sites' users without namespaces of their own (${reason}), so a hostile ` +
            `one could reach networks, and files that all users may read. ${namespacesAdvice}`,
        );
  return [privileges, userIds(config), databases];
}

function userIds(config: Config): Finding {
  const other = foreignSite(config);
  if (other !== null) {
    return problem(
      `Users: ${other} belongs to another installation whose sites have the same users as ours, so they can read each other's ` +
        "files. Give one of the two another SITEWRIGHT_FIRST_USER_ID before it has sites.",
    );
  }
  const overlap = overlapOf(config.firstUserId);
  return overlap === null
    ? ok(`Users: sites have the users from ${config.firstUserId}.`)
    : problem(`Users: ${overlap}`);
}

async function screenshots({ chromium: wanted }: Config): Promise<Finding> {
  const chromium = await findChromium(wanted === "none" ? null : wanted);
  if (chromium === null)
    return note("Screenshots before and after updates are not available: install Chromium, then restart Sitewright.");
  if (await hasSandbox(chromium)) return ok("Screenshots: Chromium is installed, and runs in its sandbox.");
  return note(
    "Screenshots: Chromium runs without its sandbox, which needs user namespaces. Allow them for Chromium, or set " +
      "SITEWRIGHT_CHROMIUM=none if you don't trust your customers.",
  );
}

async function disk({ environments, diskReserveBytes: bytes }: Config): Promise<Finding> {
  const forSites = await freeDisk({ folder: nearestExisting(environments), bytes });
  const free = sizeOf(forSites + bytes);
  if (forSites > 0) return ok(`Disk: ${free} free, of which sites may use ${sizeOf(forSites)}.`);
  return problem(
    `Disk: only ${free} free for ${environments}, and sites must leave ${sizeOf(bytes)} free, so they can write nothing. ` +
      "Free up space, or lower SITEWRIGHT_DISK_RESERVE_MB.",
  );
}

function network({ host, apiHost, apiName, siteSuffix, edgeAddresses }: Config): Finding[] {
  const isLocal = (address: string) => /^(127\.|::1$|localhost$)/.test(address);
  const api = isLocal(apiHost)
    ? ok(
        apiName === null
          ? `API: only this machine can reach it (SITEWRIGHT_API_HOST is ${apiHost}).`
          : `API: other machines can reach it over TLS, at ${apiName}.`,
      )
    : note(`API: without TLS on ${apiHost}, so API keys travel that network in plain text.`);
  if (isLocal(host)) return [api, note(`Network: only this machine can reach the sites (SITEWRIGHT_HOST is ${host}).`)];
  return [
    api,
    siteSuffix === "localhost"
      ? problem("Names: sites are below localhost, which other machines can't open. Set SITEWRIGHT_SITE_SUFFIX.")
      : ok(
          `Names: sites are below ${siteSuffix}, whose subdomains must point to ${edgeAddresses.join(", ") || "this machine"}.`,
        ),
  ];
}

async function packageSource({ wporgUrl }: Config): Promise<Finding> {
  if (wporgUrl === null) return note("Updates: none, because SITEWRIGHT_WPORG_URL is none.");
  const answer = await fetch(wporgUrl, { signal: AbortSignal.timeout(5_000) }).catch(() => null);
  await answer?.body?.cancel();
  if (answer !== null) return ok(`Updates: ${wporgUrl} answers.`);
  return problem(`Updates: ${wporgUrl} does not answer. Check the network, or set SITEWRIGHT_WPORG_URL to a mirror.`);
}

function features({ smtpUrl, acmeUrl, archiveUrl, advisories, metricsToken }: Config): Finding[] {
  return [
    smtpUrl === null
      ? note("Mail: kept, not sent. Set SITEWRIGHT_SMTP_URL to send it.")
      : ok("Mail: sent by the mail server in SITEWRIGHT_SMTP_URL."),
    acmeUrl === null
      ? note("Certificates: not ordered automatically. Set SITEWRIGHT_ACME_URL.")
      : ok(`Certificates: ordered from ${new URL(acmeUrl).host}.`),
    archiveUrl === null
      ? note("Backups: on the same disk as the sites. Set SITEWRIGHT_ARCHIVE_URL to keep them elsewhere.")
      : ok("Backups: stored at the location in SITEWRIGHT_ARCHIVE_URL."),
    advisories === null
      ? note("Vulnerabilities: not checked. Set SITEWRIGHT_ADVISORIES to a vulnerability feed.")
      : ok("Vulnerabilities: checked against the feed in SITEWRIGHT_ADVISORIES."),
    metricsToken === null
      ? note("Monitoring: /metrics can be read on this machine only. Set SITEWRIGHT_METRICS_TOKEN for others.")
      : ok("Monitoring: /metrics can be read with SITEWRIGHT_METRICS_TOKEN."),
  ];
}

/** The last check for updates is only reported if the package source answers now; otherwise, `source` says more. */
async function content(config: Config, source: Finding): Promise<Finding[]> {
  if (readRun(config.data) === null && config.databaseUrl === null) {
    return [problem(`Sitewright is not running on ${config.data}. Start it with: npm start`)];
  }
  return withRunningDatabase(config, async (database) => {
    const { backups, operations } = await readInstallationNumbers(database);
    const { updates, vulnerabilities } = await lastChecks(database);
    const failedOperations = operations.failed ?? 0;
    return [
      ...(backups.missing > 0
        ? [problem(`Backups: the first one of ${plural(backups.missing, "environment")} is overdue.`)]
        : []),
      ...(backups.failing > 0
        ? [problem(`Backups: the last one of ${plural(backups.failing, "environment")} failed. See the activity log.`)]
        : []),
      ...(backups.damaged > 0 ? [problem(`Backups: ${plural(backups.damaged, "backup")} damaged.`)] : []),
      ...(updates.problem === null || source.level !== "ok"
        ? []
        : [problem(`Updates: the last check failed: ${updates.problem}`)]),
      ...(vulnerabilities.problem === null
        ? []
        : [problem(`Vulnerabilities: the feed could not be read: ${vulnerabilities.problem}`)]),
      failedOperations > 0
        ? note(
            `Operations: ${failedOperations} failed in the last 24 hours. GET /operations?state=failed lists those of a company with the reasons.`,
          )
        : ok("Operations: none failed in the last 24 hours."),
    ];
  });
}
