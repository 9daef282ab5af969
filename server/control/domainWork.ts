/** Domains, their DNS zones and certificates. */
import { readDomainName } from "../domains/names.ts";
import { makeDnsChallenges } from "../reconcilers/certificates/dnsChallenges.ts";
import { makeDnsSolver } from "../reconcilers/certificates/dnsSolver.ts";
import { makeHttpSolver } from "../reconcilers/certificates/httpSolver.ts";
import { makeApiCertificateOrder } from "../reconcilers/certificates/orderApiCertificate.ts";
import { orderCertificates } from "../reconcilers/certificates/orderCertificates.ts";
import { checkDomains } from "../reconcilers/checkDomains.ts";
import type { Reconciler } from "../reconcilers/schedule.ts";
import { removeOldCertificates } from "../store/domains/certificates.ts";
import type { PeriodicWorkOptions } from "./periodicWorkOptions.ts";
import { hour, minute } from "./periods.ts";

export function workOnDomains({ database, publisher, zones, config, lookUp, log }: PeriodicWorkOptions): Reconciler[] {
  const domains = { database, publisher, lookUp, installation: config, log };
  return [
    { name: "publishZones", work: "Publishing DNS zones", everySeconds: 3, retrySeconds: 1, run: zones.reconcile },
    {
      name: "checkDomains",
      work: "Checking domains in DNS",
      everySeconds: 1,
      retrySeconds: 5,
      run: () => checkDomains(domains),
    },
  ];
}

/** Orders in parallel: most of an order's time is spent waiting for the authority. */
const parallelOrders = 4;

export function workOnCertificates(options: PeriodicWorkOptions): Reconciler[] {
  const { database, publisher, zones, dns, config, sealer, acmeRoots: roots, signal } = options;
  // DNS first: it works even if the name does not point here.
  const solvers = [makeDnsSolver(makeDnsChallenges({ database, zones, dns })), makeHttpSolver({ database, publisher })];
  const { acmeUrl: directory, acmeEmail: email, acmeBinding: binding } = config;
  const removeOld = async () => {
    if ((await removeOldCertificates(database, new Date())) > 0) await publisher.publish();
  };
  const ordering = Array.from({ length: directory === null ? 0 : parallelOrders }, (_, at) => ({
    name: `orderCertificates ${at + 1}`,
    work: "Ordering certificates",
    everySeconds: 2,
    retrySeconds: 10,
    run: async () => {
      if (directory === null) return;
      const authority = { directory, roots, email, binding };
      await orderCertificates({ database, sealer, publisher, solvers, ...authority, registrableOf, signal });
    },
  }));
  return [
    ...orderForApi(options),
    {
      name: "removeOldCertificates",
      work: "Removing old certificates",
      everySeconds: hour,
      retrySeconds: minute,
      run: removeOld,
    },
    ...ordering,
  ];
}

/** Usually only looks at the certificate. */
const apiCertificateSeconds = 10;

function orderForApi(options: PeriodicWorkOptions): Reconciler[] {
  const { database, config, sealer, edge, acmeRoots: roots, apiChallenges: challenges, signal } = options;
  const { data, apiName: name, apiCertificate, acmeUrl: directory, acmeEmail: email, acmeBinding: binding } = config;
  if (name === null || apiCertificate !== null || directory === null) return [];
  const isEdgeReady = () =>
    edge.status().then(
      () => true,
      () => false,
    );
  const authority = { database, sealer, directory, roots, email, binding, signal };
  return [
    {
      name: "orderApiCertificate",
      work: "Ordering the certificate for SITEWRIGHT_API_NAME",
      everySeconds: apiCertificateSeconds,
      retrySeconds: apiCertificateSeconds,
      run: makeApiCertificateOrder({ ...authority, name, data, challenges, isEdgeReady }),
    },
  ];
}

const registrableOf = (name: string): string => readDomainName(name).registrable;
