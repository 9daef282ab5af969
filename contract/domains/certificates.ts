/** The certificates of domains: what is shown to visitors, what is ordered, and the customers' own. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { nullable, pattern, uuid } from "../schema.ts";

const params = Type.Object({ site_domain_id: uuid("Id of the domain.") });
const moment = (description: string) =>
  Type.Number({ description: `${description} Milliseconds since 1970.`, examples: [1795190400000] });

const noNul = pattern("^[^\\u0000]*$", "must be without the character U+0000");

/** A key and a chain of certificates have some kilobytes. */
const pem = (description: string) =>
  Type.String({ minLength: 1, maxLength: 65_536, pattern: noNul, description, examples: ["-----BEGIN …"] });

export const CertificateReplace = Type.Object(
  {
    custom_ssl_key: pem("Private key, PEM. Never shown again, and kept encrypted."),
    custom_ssl_cert: pem("Certificate with its chain, PEM, in whatever order."),
  },
  { title: "CertificateReplace" },
);

const Certificate = Type.Object(
  {
    source: Type.Enum(["custom", "acme"], {
      description: "`custom`: given by the customer. `acme`: ordered by the installation, which renews it.",
    }),
    names: Type.Array(Type.String({ examples: ["example.com"] }), { description: "The names that stand in it." }),
    issuer: Type.String({ description: "Who signed it, as it says.", examples: ["C=US, O=Let's Encrypt, CN=E7"] }),
    fingerprint: Type.String({ description: "SHA-256, in hex.", examples: ["9f86d081…"] }),
    not_before: moment("Valid from then on."),
    not_after: moment("Valid until then."),
    is_served: Type.Boolean({ description: "Whether visitors who ask for the domain by TLS are shown it now." }),
  },
  { title: "DomainCertificate" },
);

const Order = Type.Object(
  {
    is_under_way: Type.Boolean({ description: "The authority has an order, and is about to look or to sign." }),
    next_try_at: nullable(
      moment("When something is asked of the authority next: the order, or the renewal. Null: nothing, as things are."),
    ),
    failures: Type.Integer({ minimum: 0, description: "Tries that failed since the last certificate." }),
    last_problem: nullable(
      Type.Object({
        message: Type.String({
          description: "What went wrong; where the authority refused, with its own words.",
          examples: ["The certificate authority refused it. example.com: 203.0.113.9: Invalid response … 404"],
        }),
        at: moment("When."),
      }),
    ),
    limited_until: nullable(moment("The authority said that it takes no more until then. Null: it does.")),
  },
  { title: "CertificateOrder" },
);

const state = (description: string) => ({
  200: result(
    ["site_domain"],
    description,
    Type.Object({ certificate: nullable(Certificate), order: nullable(Order) }),
  ),
});

const common = {
  path: "/sites/environments/domains/{site_domain_id}/certificate",
  tag: "Domains",
  params,
  resource: { kind: "domain", from: "params.site_domain_id" },
} as const;

export const getCertificate = endpoint({
  ...common,
  method: "GET",
  summary: "Tell which certificate a domain has",
  description:
    "`certificate` is the one that visitors are shown, or the last one where none is valid; null where there never was any. `order` is about the certificate authority of the installation; null where it has none, and for domains that are not served or do not point here.",
  responses: state("The certificate, and what is ordered."),
  verb: "read",
});

export const replaceCertificate = endpoint({
  ...common,
  method: "PUT",
  summary: "Give a domain a certificate of your own",
  description:
    "In force when it is answered, for the domain and for whatever else of the environment it names. It replaces the ones that were given before; those stay for other domains that it is not for. While it is valid, none is ordered; a day before its end one is, in case that nobody gives the next one.",
  body: CertificateReplace,
  responses: state("It is in force."),
  verb: "write",
  changesLive: true,
});

export const removeCertificate = endpoint({
  ...common,
  method: "DELETE",
  summary: "Remove the custom certificate of a domain",
  description:
    "Out of force when it is answered, also for other domains that it named. What was ordered is shown from then on, or is ordered now; until it has come, the domain can't be reached by TLS. Without a custom certificate nothing happens.",
  responses: state("It is gone."),
  verb: "delete",
  changesLive: true,
});
