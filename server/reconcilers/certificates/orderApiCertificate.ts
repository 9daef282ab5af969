/**
 * Orders the certificate of the API's own name, and renews it. It belongs to no company, so it is not in the database but in a
 * file for the edge. An order that was not finished is abandoned: the next one is complete within seconds.
 */
import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { apiCertificateFolder, apiCertificateId } from "../../apiCertificate.ts";
import { makeKey } from "../../certificates/acme/signing.ts";
import type { Solver } from "../../certificates/acme/solver.ts";
import { readIssued } from "../../certificates/issued.ts";
import { covers, namesOf } from "../../certificates/names.ts";
import { writeDurableFile } from "../../durableFile.ts";
import { readEdgeCertificate } from "../../edgeCertificate.ts";
import type { Sealer } from "../../sealing.ts";
import { findAccountWait } from "../../store/domains/acmeAccounts.ts";
import { type AuthorityOptions, openAuthority } from "./acmeAuthority.ts";
import { completeOrder } from "./issueCertificate.ts";

interface OrderApiCertificateOptions extends AuthorityOptions {
  /** The API's name. */
  readonly name: string;
  /** The data folder. */
  readonly data: string;
  /** The contents of running challenges by token, which the API answers. */
  readonly challenges: Map<string, string>;
  /** Whether the authority can reach the API through the edge, apart from DNS. */
  readonly isEdgeReady: () => Promise<boolean>;
  readonly now?: () => Date;
}

/** Authorities allow a few failed validations of a name per hour. */
const pauseMilliseconds = 15 * 60_000;

/**
 * Makes a function that orders a certificate if there is none, or if less than a third of its lifetime is left. It rejects if
 * the order fails, and then does nothing for a while.
 */
export function makeApiCertificateOrder(options: OrderApiCertificateOptions): () => Promise<void> {
  const { database, directory, isEdgeReady, now = () => new Date() } = options;
  let pausesUntil = 0;
  return async () => {
    if (now().getTime() < pausesUntil || (await isFresh(options, now()))) return;
    if (!(await isEdgeReady()) || (await findAccountWait(database, directory, now())) !== null) return;
    try {
      await order(options);
    } catch (error) {
      pausesUntil = now().getTime() + pauseMilliseconds;
      throw error;
    }
  };
}

async function order(options: OrderApiCertificateOptions): Promise<void> {
  const { name, data, sealer, challenges, signal } = options;
  const { acme, account } = await openAuthority(options);
  const key = makeKey();
  const names = [name];
  const store = async (chain: string) => {
    const issued = readIssued(chain, key, names);
    const content = JSON.stringify({ key: issued.key, chain: issued.chain });
    const file = join(apiCertificateFolder(data), apiCertificateId);
    await writeDurableFile(file, sealer.seal(content, `edge-certificate:${apiCertificateId}`));
  };
  try {
    const { url } = await acme.newOrder(account, names);
    const opened = { domainId: "", name, challengeName: null, names, url };
    const solvers = [makeApiSolver(challenges)];
    await completeOrder(
      opened,
      { findKey: async () => key, store },
      { acme, account, solvers, signal, hold: async () => {} },
    );
  } finally {
    challenges.clear();
  }
}

/** The edge passes the authority's requests on to the API. */
function makeApiSolver(challenges: Map<string, string>): Solver {
  return {
    type: "http-01",
    canSolve: () => true,
    publish: async ({ token, content }) => {
      challenges.set(token, content);
    },
  };
}

const renewalShare = 1 / 3;

async function isFresh(
  { name, data, sealer }: { readonly name: string; readonly data: string; readonly sealer: Sealer },
  now: Date,
): Promise<boolean> {
  const certificate = await readEdgeCertificate(apiCertificateFolder(data), apiCertificateId, sealer).then(
    ({ chain }) => new X509Certificate(chain),
    // Missing, or sealed with a key that is gone.
    () => null,
  );
  if (certificate === null || !covers(namesOf(certificate), name)) return false;
  const { validFromDate, validToDate } = certificate;
  const renewal = validToDate.getTime() - (validToDate.getTime() - validFromDate.getTime()) * renewalShare;
  return now.getTime() < renewal;
}
