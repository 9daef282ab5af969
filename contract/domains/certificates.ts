/** Certificates of domains: ordered ones and custom ones. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { milliseconds, nullable, pem, uuid } from "../schema.ts";

const params = Type.Object({ site_domain_id: uuid("Id of the domain.") });

export const CertificateReplace = Type.Object(
  {
    custom_ssl_key: pem("Private key in PEM format. Stored encrypted and never shown again."),
    custom_ssl_cert: pem("Certificate and its chain in PEM format, in any order."),
  },
  { title: "CertificateReplace" },
);

const Certificate = Type.Object(
  {
    source: Type.Enum(["custom", "acme"], {
      description: "`custom`: uploaded. `acme`: ordered and renewed by the installation.",
      examples: ["acme"],
    }),
    names: Type.Array(Type.String({ examples: ["example.com"] }), { description: "The domain names that it covers." }),
    issuer: Type.String({
      description: "Issuer, as in the certificate.",
      examples: ["C=US, O=Let's Encrypt, CN=E7"],
    }),
    fingerprint: Type.String({ description: "SHA-256 fingerprint in hexadecimal.", examples: ["9f86d081…"] }),
    not_before: milliseconds("Start of its validity."),
    not_after: milliseconds("End of its validity.", 1_802_966_400_000),
    is_served: Type.Boolean({ description: "Whether it is in use for this domain.", examples: [true] }),
  },
  { title: "DomainCertificate" },
);

const Order = Type.Object(
  {
    is_under_way: Type.Boolean({ description: "Whether an order is in progress at the certificate authority." }),
    next_try_at: nullable(milliseconds("When the next order or renewal is due; null if none is.", 1_800_374_400_000)),
    failures: Type.Integer({ minimum: 0, description: "Failed attempts since the last certificate." }),
    last_problem: nullable(
      Type.Object(
        {
          message: Type.String({
            description: "The error message. If the authority refused, its own words.",
            examples: ["The certificate authority refused it. example.com: 203.0.113.9: Invalid response … 404"],
          }),
          at: milliseconds("When it happened."),
        },
        { description: "The last problem, or null.", examples: [null] },
      ),
    ),
    limited_until: nullable(milliseconds("When the authority's rate limit ends; null if it accepts orders.", null)),
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
    "`certificate` is the one in use, or the last one if none is valid, or null if there has never been one. `order` is the state of the order at the installation's certificate authority. It is null if there is no authority, or if the domain is not served or does not point here.",
  responses: state("The certificate and the state of its order."),
  verb: "read",
});

export const replaceCertificate = endpoint({
  ...common,
  method: "PUT",
  summary: "Upload a custom certificate",
  description:
    "In force when this call returns, for the domain and for other domains of the environment that the certificate covers. An earlier custom certificate stays in use for domains that the new one does not cover. While a custom certificate is valid, none is ordered; one day before it expires, one is ordered in case you do not upload a new one.",
  body: CertificateReplace,
  responses: state("The certificate is in force."),
  refusals: ["custom_certificate_refused"],
  verb: "write",
  changesLive: true,
});

export const removeCertificate = endpoint({
  ...common,
  method: "DELETE",
  summary: "Delete a custom certificate",
  description:
    "Takes effect when this call returns, also for other domains that the certificate covers. An ordered certificate is used instead. If there is none, one is ordered now, and the domain has no HTTPS until it arrives. Without a custom certificate, nothing happens.",
  responses: state("The custom certificate is deleted."),
  verb: "delete",
  changesLive: true,
});
