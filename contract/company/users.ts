/** Users of a company. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { uuid } from "../schema.ts";

const User = Type.Object(
  {
    id: uuid("Id of the user."),
    email: Type.String({ format: "email", description: "E-mail address.", examples: ["ada@example.com"] }),
    image: Type.String({
      format: "uri",
      description: "An image with the user's initials, as a `data:` address.",
      examples: ["data:image/svg+xml,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22/%3E"],
    }),
    full_name: Type.String({ description: "Full name.", examples: ["Ada Lovelace"] }),
  },
  { title: "User" },
);

export const listUsers = endpoint({
  method: "GET",
  path: "/company/{id}/users",
  tag: "Users",
  summary: "List a company's users",
  description: "Oldest first. Each API key belongs to one of them and has at most their permissions.",
  params: Type.Object({ id: uuid("Id of the company.") }),
  responses: {
    200: result(
      ["company"],
      "The users.",
      Type.Object({ users: Type.Array(Type.Object({ user: User }, { title: "CompanyUser" })) }),
    ),
  },
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "closed" },
});
