/** Metrics of this installation, in the text format of Prometheus. */
import type { StatsFs } from "node:fs";
import { statfs } from "node:fs/promises";
import type { Database } from "@sitewright/server/store/database.ts";
import { countOrders, listExpiries, orderStates } from "@sitewright/server/store/domains/certificateMetrics.ts";
import { readInstallationNumbers } from "@sitewright/server/store/installationMetrics.ts";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";

export interface Metrics {
  /** Content type of the text. */
  readonly contentType: string;
  /** Measures everything now. */
  read(): Promise<string>;
}

/** Metrics of the edge. */
export interface EdgeNumbers {
  /** PHP processes that have a site. */
  readonly workers: readonly { readonly busy: boolean }[];
  /** Number of PHP processes that wait for a site. */
  readonly preparedWorkers: number;
  /** Bytes of request bodies, and how many were refused because there was no room. */
  readonly bodies: { readonly memoryBytes: number; readonly diskBytes: number; readonly refused: number };
  /** A histogram of the time that answers took: upper limits in seconds, and counts by class of status. */
  readonly answers: {
    readonly buckets: readonly number[];
    readonly times: readonly {
      readonly status: string;
      readonly counts: readonly number[];
      readonly sumSeconds: number;
    }[];
  };
}

export interface MetricsOptions {
  readonly database: Database;
  /** The certificate authority's directory, or null if no certificates are ordered. */
  readonly acmeUrl: string | null;
  /** The edge's state, or null if it does not answer. */
  readonly edgeNumbers: () => Promise<EdgeNumbers | null>;
  /** The folder whose disk is measured. */
  readonly dataFolder: string;
  /** PHP processes that may run at once. */
  readonly maxWorkers: number;
}

export function makeMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  addProcess(registry);
  addCertificates(registry, options.database);
  if (options.acmeUrl !== null) addOrders(registry, options.database);
  const updates = [addContent(registry), addEdge(registry, options), addDisk(registry)];
  return {
    contentType: Registry.PROMETHEUS_CONTENT_TYPE,
    read: async () => {
      const [numbers, edge, disk] = await Promise.all([
        readInstallationNumbers(options.database),
        options.edgeNumbers(),
        statfs(options.dataFolder),
      ]);
      for (const update of updates) update({ numbers, edge, disk });
      return registry.metrics();
    },
  };
}

interface Reading {
  readonly numbers: Awaited<ReturnType<typeof readInstallationNumbers>>;
  readonly edge: EdgeNumbers | null;
  readonly disk: StatsFs;
}

type Update = (reading: Reading) => void;

/** A value that changes in both directions. */
function gauge<Label extends string = never>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly Label[] = [],
): Gauge<Label> {
  return new Gauge({ name: `sitewright_${name}`, help, labelNames, registers: [registry] });
}

function addContent(registry: Registry): Update {
  const sites = gauge(registry, "sites", "Number of sites.");
  const environments = gauge(registry, "environments", "Number of environments, by state.", ["state"]);
  const operations = gauge(
    registry,
    "operations",
    "Number of operations that wait or run now, or have succeeded or failed in the last 24 hours.",
    ["state"],
  );
  const wait = gauge(registry, "operation_wait_seconds", "How long the longest waiting operation has waited.");
  const age = gauge(registry, "backup_age_seconds", "Age of the newest backup of the environment with the oldest one.");
  const backups = gauge(
    registry,
    "backup_problems",
    "Environments whose first backup is overdue (missing) or whose last scheduled one failed (failing), and damaged backups.",
    ["problem"],
  );
  const bytes = gauge(registry, "environments_bytes", "Disk space of all environments, as last measured.");
  return ({ numbers }) => {
    sites.set(numbers.sites);
    environments.reset();
    for (const [state, count] of Object.entries(numbers.environments)) environments.set({ state }, count);
    for (const state of ["waiting", "running", "succeeded", "failed"]) {
      operations.set({ state }, numbers.operations[state] ?? 0);
    }
    wait.set(numbers.longestWaitSeconds);
    age.set(numbers.backups.oldestSeconds);
    for (const problem of ["missing", "failing", "damaged"] as const)
      backups.set({ problem }, numbers.backups[problem]);
    bytes.set(numbers.environmentBytes);
  };
}

function addEdge(registry: Registry, { maxWorkers }: MetricsOptions): Update {
  const up = gauge(registry, "edge_up", "Whether the edge, which serves visitors, answers.");
  const workers = gauge(registry, "php_workers", "PHP processes: busy, idle, or prepared (waiting for a site).", [
    "state",
  ]);
  gauge(registry, "php_workers_limit", "PHP processes that may run at once for sites.").set(maxWorkers);
  const bodies = gauge(registry, "request_body_bytes", "Request bodies that the edge holds or expects.", ["place"]);
  const refused = new Counter({
    name: "sitewright_request_bodies_refused_total",
    help: "Request bodies refused for lack of space since the edge started.",
    registers: [registry],
  });
  const counter = <Label extends string>(suffix: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name: `sitewright_answer_seconds_${suffix}`, help, labelNames, registers: [registry] });
  const help = "Answers to visitors since the edge started";
  const buckets = counter("bucket", `${help}, by the time they took.`, ["status", "le"]);
  const sum = counter("sum", `${help}: seconds in total.`, ["status"]);
  const count = counter("count", `${help}: their number.`, ["status"]);
  return ({ edge }) => {
    up.set(edge === null ? 0 : 1);
    for (const metric of [workers, bodies, refused, buckets, sum, count]) metric.reset();
    if (edge === null) return;
    workers.set({ state: "busy" }, edge.workers.filter(({ busy }) => busy).length);
    workers.set({ state: "idle" }, edge.workers.filter(({ busy }) => !busy).length);
    workers.set({ state: "prepared" }, edge.preparedWorkers);
    bodies.set({ place: "memory" }, edge.bodies.memoryBytes);
    bodies.set({ place: "disk" }, edge.bodies.diskBytes);
    refused.inc(edge.bodies.refused);
    for (const { status, counts, sumSeconds } of edge.answers.times) {
      let total = 0;
      for (const [at, number] of counts.entries()) {
        total += number;
        buckets.inc({ status, le: String(edge.answers.buckets[at] ?? "+Inf") }, total);
      }
      sum.inc({ status }, sumSeconds);
      count.inc({ status }, total);
    }
  };
}

function addDisk(registry: Registry): Update {
  const free = gauge(registry, "disk_free_bytes", "Free space on the disk of the data folder.");
  const size = gauge(registry, "disk_size_bytes", "Size of the disk of the data folder.");
  return ({ disk: { bavail, blocks, bsize } }) => {
    free.set(bavail * bsize);
    size.set(blocks * bsize);
  };
}

/** Metrics that prom-client counts only from the first measurement on, or reports wrongly while it has no samples. */
const replacedMetrics = [
  ...["process_cpu_user_seconds_total", "process_cpu_system_seconds_total", "process_cpu_seconds_total"],
  ...["nodejs_eventloop_lag_min_seconds", "nodejs_eventloop_lag_mean_seconds", "nodejs_eventloop_lag_stddev_seconds"],
];

function addProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const name of replacedMetrics) registry.removeSingleMetric(name);
  const cpu = new Counter({
    name: "process_cpu_seconds_total",
    help: "Processor time of the control process since it started, in seconds.",
    registers: [registry],
    collect: () => {
      const { user, system } = process.cpuUsage();
      cpu.reset();
      cpu.inc((user + system) / 1e6);
    },
  });
}

function addCertificates(registry: Registry, database: Database): void {
  const expiry = new Gauge({
    name: "sitewright_certificate_expiry_timestamp_seconds",
    help: "When the certificate of a served domain expires, in seconds since 1970.",
    labelNames: ["domain", "source"] as const,
    registers: [registry],
    collect: async () => {
      const rows = await listExpiries(database);
      expiry.reset();
      for (const { domain, source, notAfter } of rows) expiry.set({ domain, source }, notAfter.getTime() / 1_000);
    },
  });
}

function addOrders(registry: Registry, database: Database): void {
  const orders = new Gauge({
    name: "sitewright_acme_orders",
    help: "Domains that need a certificate from the authority: due, under_way, failing, or limited by the authority.",
    labelNames: ["state"] as const,
    registers: [registry],
    collect: async () => {
      const counts = await countOrders(database, new Date());
      for (const state of orderStates) orders.set({ state }, counts[state]);
    },
  });
}
