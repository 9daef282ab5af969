/** API keys. Each belongs to a user of a company. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { dateTime, line, nullable, pattern, uuid } from "../schema.ts";

const status = Type.Enum(["active", "revoked", "expired"], { description: "Only `active` keys are accepted." });
const expiresAt = nullable(
  Type.String({
    format: "date-time",
    description: "When it expires; null: never.",
    examples: ["2027-01-01T00:00:00.000Z"],
  }),
);

const createdBy = nullable(
  uuid("Id of the key that created it, and with which it is revoked; null: a person in a session, or the operator."),
);
const replacedBy = nullable(uuid("Id of the key that replaces it; null: none."));
const lastUsedAt = nullable(
  dateTime("When it was last accepted, to the minute; null: never, or not since this was recorded."),
);
const addressList = Type.Array(Type.String({ maxLength: 100, examples: ["203.0.113.0/24"] }), {
  maxItems: 100,
  description:
    "IP addresses and networks from which the key is accepted; null: any. Other requests get a 403. A key's list is never wider than that of the key that created it.",
});

/** As a request has it: with at least one entry. */
const newAddressList = Type.Array(Type.String({ maxLength: 100, examples: ["203.0.113.0/24"] }), {
  minItems: 1,
  maxItems: 100,
  description:
    "IP addresses and networks from which the key is accepted. Null: all that the creating key is accepted from.",
});

const ApiKey = Type.Object(
  {
    id: uuid("Id of the key."),
    name: Type.String({ description: "Name of the key.", examples: ["Deploy"] }),
    status,
    expires_at: expiresAt,
    created_by: createdBy,
    replaced_by: replacedBy,
    last_used_at: lastUsedAt,
    allowed_addresses: nullable(addressList),
  },
  { title: "ApiKey" },
);

const scopePattern = pattern(
  "^(read|write|delete|push|keys|users|non-live|(site|label):[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})$",
  "must be read, write, delete, push, keys, users, non-live, site:<id> or label:<id>",
);

const scopeList = Type.Array(Type.String({ pattern: scopePattern, examples: ["read"] }), {
  minItems: 1,
  maxItems: 200,
  description:
    "Restrictions of the key. `read`, `write`, `delete`, `push`, `keys` (create, change and revoke API keys), `users` (invite, change and remove users, so that it can get all permissions of its user): only these kinds of calls are allowed. `site:<id>` and `label:<id>`: only these sites, and those that have one of these labels at the time, are accessible. `non-live`: live environments can't be changed. A group that is absent restricts nothing. Null: the key has all permissions of its user.",
});

const ApiKeyWithScopes = Type.Object(
  {
    id: uuid("Id of the key."),
    name: Type.String({ description: "Name of the key.", examples: ["Deploy"] }),
    status,
    expires_at: expiresAt,
    created_by: createdBy,
    replaced_by: replacedBy,
    last_used_at: lastUsedAt,
    allowed_addresses: nullable(addressList),
    scopes: nullable(scopeList),
  },
  { title: "ApiKeyWithScopes" },
);

const company = Type.Object({ id: uuid("Id of the company.") });

export const listApiKeys = endpoint({
  method: "GET",
  path: "/company/{id}/api-keys",
  tag: "API keys",
  summary: "List a company's API keys",
  description:
    "Newest first. The tokens themselves are never shown again. Users with the role `developer` or `billing` see only their own keys.",
  params: company,
  responses: {
    200: result(["api_keys"], "The keys.", Type.Array(ApiKey)),
  },
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "closed" },
});

export const createApiKey = endpoint({
  method: "POST",
  path: "/company/{id}/api-keys",
  tag: "API keys",
  summary: "Create an API key",
  description:
    "The new key belongs to the same user as the calling key, can't have more permissions or be accepted from more addresses, expires with it at the latest, and is revoked with it. In a session, it belongs to the session's user, and stays valid when the session ends. `token` is shown only in this response.",
  params: company,
  body: Type.Object(
    {
      name: line(100, "Purpose of the key.", "Deploy"),
      expires_at: Type.Optional(
        nullable(Type.String({ format: "date-time", description: "When it expires. Null or omitted: never." })),
      ),
      scopes: Type.Optional(nullable(scopeList)),
      allowed_addresses: Type.Optional(nullable(newAddressList)),
    },
    { title: "ApiKeyCreate" },
  ),
  responses: {
    201: result(
      [],
      "The key has been created.",
      Type.Object({
        api_key: ApiKeyWithScopes,
        token: Type.String({
          description: "The key itself. Send it as `Authorization: Bearer <token>`.",
          examples: ["sk_…"],
        }),
      }),
    ),
  },
  refusals: [
    "company_limit_reached",
    "expiry_in_the_past",
    "unknown_site_scope",
    "unknown_label",
    "not_an_address",
    "addresses_too_wide",
  ],
  verb: "keys",
  resource: { kind: "company", from: "params.id", underSiteScope: "closed" },
  bucket: "creations",
});

export const setAllowedAddresses = endpoint({
  method: "PUT",
  path: "/company/{id}/api-keys/{key_id}/allowed-addresses",
  tag: "API keys",
  summary: "Set the addresses from which an API key is accepted",
  description:
    "In force when this call returns. The list can't be wider than that of the calling key, or of the key that created this one. The lists of keys that were created with it are reduced to what both lists allow. Users with the role `developer` can change only their own keys. A key with `read`, `write` or `push`, but not `delete`, can change only itself and the keys below it.",
  params: Type.Object({ id: uuid("Id of the company."), key_id: uuid("Id of the key.") }),
  body: Type.Object(
    { allowed_addresses: nullable(newAddressList) },
    { title: "AllowedAddresses", examples: [{ allowed_addresses: ["203.0.113.0/24", "2001:db8::7"] }] },
  ),
  responses: {
    200: result(["api_key"], "The list is in force.", ApiKeyWithScopes),
  },
  refusals: ["not_an_address", "addresses_too_wide"],
  verb: "keys",
  resource: { kind: "company", from: "params.id", underSiteScope: "closed" },
});

export const rotateApiKey = endpoint({
  method: "POST",
  path: "/company/{id}/api-keys/{key_id}/rotate",
  tag: "API keys",
  summary: "Rotate an API key",
  description:
    "Creates a successor with the same user, name, scopes, addresses and expiry. The old key stays valid for `overlap_hours`, then expires; until then both count towards the company's limit. Keys that were created with the old one count as created with the successor from now on. A key can be rotated by itself, by the keys above it, and by its user in a session. `token` is shown only in this response.",
  params: Type.Object({ id: uuid("Id of the company."), key_id: uuid("Id of the key.") }),
  body: Type.Object(
    {
      overlap_hours: Type.Number({
        minimum: 0,
        maximum: 720,
        default: 24,
        description: "For how many hours the old key stays valid. 0: it is refused as soon as this call returns.",
      }),
    },
    { title: "ApiKeyRotate", examples: [{ overlap_hours: 24 }] },
  ),
  responses: {
    201: result(
      [],
      "The successor has been created.",
      Type.Object({
        api_key: ApiKeyWithScopes,
        token: Type.String({
          description: "The successor itself. Send it as `Authorization: Bearer <token>`.",
          examples: ["sk_…"],
        }),
        replaced_key: ApiKeyWithScopes,
      }),
    ),
  },
  refusals: ["key_not_below", "key_already_rotated", "company_limit_reached"],
  verb: "keys",
  resource: { kind: "company", from: "params.id", underSiteScope: "closed" },
  bucket: "creations",
});

const revokedExample = {
  api_key: {
    id: "54fb80af-576c-4fdc-ba4f-b596c83f15a1",
    name: "Deploy",
    status: "revoked",
    expires_at: null,
    created_by: null,
    replaced_by: null,
    last_used_at: "2026-11-23T08:00:00.000Z",
    allowed_addresses: null,
    scopes: null,
  },
};

export const revokeApiKey = endpoint({
  method: "DELETE",
  path: "/company/{id}/api-keys/{key_id}",
  tag: "API keys",
  summary: "Revoke an API key",
  description:
    "The key, all keys that were created with it, and (unless `keep_successor` is true) the key that has replaced it, are refused as soon as this call returns. They stay in the list as `revoked` for 400 days; revoking a key again changes nothing. Users with the role `developer` can revoke only their own keys. A key with `read`, `write` or `push`, but not `delete`, can revoke only itself and the keys below it.",
  params: Type.Object({ id: uuid("Id of the company."), key_id: uuid("Id of the key.") }),
  query: Type.Object({
    keep_successor: Type.Boolean({
      default: false,
      description:
        "Whether the key that has replaced it stays valid, if it was rotated. True: it does, for example to end the overlap early. False: it is revoked, too, because somebody who has stolen the old key could have created it.",
    }),
  }),
  responses: {
    200: result(["api_key"], "The key is revoked.", ApiKeyWithScopes, { examples: [revokedExample] }),
  },
  verb: "keys",
  resource: { kind: "company", from: "params.id", underSiteScope: "closed" },
});
