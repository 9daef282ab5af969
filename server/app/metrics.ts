/** What is measured of this installation, as Prometheus reads it. */

import type { Database } from "@sitewright/server/store/database.ts";
import { countOrders, listExpiries, orderStates } from "@sitewright/server/store/domains/certificateMetrics.ts";
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";

export interface Metrics {
  /** Of the text. */
  readonly contentType: string;
  /** Everything, as it is now. */
  read(): Promise<string>;
}

export interface MetricsOptions {
  readonly database: Database;
  /** The authority that certificates are ordered from; null: none are. */
  readonly acmeUrl: string | null;
}

/** Nothing is measured before it is read for the first time. */
export function makeMetrics(options: MetricsOptions): Metrics {
  let registry: Registry | undefined;
  return {
    contentType: Registry.PROMETHEUS_CONTENT_TYPE,
    read: () => {
      registry ??= makeRegistry(options);
      return registry.metrics();
    },
  };
}

function makeRegistry({ database, acmeUrl }: MetricsOptions): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const expiry = new Gauge({
    name: "sitewright_certificate_expiry_timestamp_seconds",
    help: "When the certificate of a domain that is served ends, in seconds since 1970.",
    labelNames: ["domain", "source"] as const,
    registers: [registry],
    collect: async () => {
      const rows = await listExpiries(database);
      expiry.reset();
      for (const { domain, source, notAfter } of rows) expiry.set({ domain, source }, notAfter.getTime() / 1_000);
    },
  });
  if (acmeUrl !== null) addOrders(registry, database);
  return registry;
}

function addOrders(registry: Registry, database: Database): void {
  const orders = new Gauge({
    name: "sitewright_acme_orders",
    help: "Domains that want a certificate from the authority: due, under_way, failing, or limited by the authority.",
    labelNames: ["state"] as const,
    registers: [registry],
    collect: async () => {
      const counts = await countOrders(database, new Date());
      for (const state of orderStates) orders.set({ state }, counts[state]);
    },
  });
}
