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
    custom_ssl_key: pem("Private key, PEM. Stored encrypted and never shown again."),
    custom_ssl_cert: pem("Certificate with its chain, PEM, in any order."),
  },
  { title: "CertificateReplace" },
);

const Certificate = Type.Object(
  {
    source: Type.Enum(["custom", "acme"], {
      description: "`custom`: uploaded by the customer. `acme`: ordered and renewed by the installation.",
    }),
    names: Type.Array(Type.String({ examples: ["example.com"] }), { description: "The names that it covers." }),
    issuer: Type.String({
      description: "The issuer, as in the certificate.",
      examples: ["C=US, O=Let's Encrypt, CN=E7"],
    }),
    fingerprint: Type.String({ description: "SHA-256, in hex.", examples: ["9f86d081…"] }),
    not_before: moment("Valid from then on."),
    not_after: moment("Valid until then."),
    is_served: Type.Boolean({ description: "Whether it is used for this domain now." }),
  },
  { title: "DomainCertificate" },
);

const Order = Type.Object(
  {
    is_under_way: Type.Boolean({ description: "An order is in progress at the certificate authority." }),
    next_try_at: nullable(moment("The next order or renewal, or null if none is planned.")),
    failures: Type.Integer({ minimum: 0, description: "Failed attempts since the last certificate." }),
    last_problem: nullable(
      Type.Object({
        message: Type.String({
          description: "What went wrong, in the authority's own words if it refused.",
          examples: ["The certificate authority refused it. example.com: 203.0.113.9: Invalid response … 404"],
        }),
        at: moment("When."),
      }),
    ),
    limited_until: nullable(moment("The authority accepts no orders until then. Null: it does.")),
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
  summary: "Get a domain's certificate",
  description:
    "`certificate` is the one in use, or the last one if none is valid, or null if there has never been one. `order` is the state at the installation's certificate authority; null if there is no authority, or the domain is not served or does not point here.",
  responses: state("The certificate and the state of its order."),
  verb: "read",
});

export const replaceCertificate = endpoint({
  ...common,
  method: "PUT",
  summary: "Set a custom certificate",
  description:
    "In force when this call returns, for the domain and for other domains of the environment that the certificate covers. It replaces earlier custom certificates, which stay in use for domains that it does not cover. No certificate is ordered while it is valid; a day before it expires one is, in case you do not upload the next one.",
  body: CertificateReplace,
  responses: state("It is in force."),
  verb: "write",
  changesLive: true,
});

export const removeCertificate = endpoint({
  ...common,
  method: "DELETE",
  summary: "Delete a custom certificate",
  description:
    "Takes effect when this call returns, also for other domains that it covers. An ordered certificate is used instead, or is ordered now; until it arrives the domain has no HTTPS. Does nothing if there is no custom certificate.",
  responses: state("It is gone."),
  verb: "delete",
  changesLive: true,
});
