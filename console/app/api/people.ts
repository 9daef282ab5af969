/** The company's users and invitations. */
import { queryOptions } from "@tanstack/react-query";
import { answerOf, api, type Schemas } from "./client.ts";

export type Person = Schemas["CompanyUser"];
export type Invitation = Schemas["Invitation"];
export type Role = Schemas["Role"];

/** A site to choose, by its name. */
export interface SiteName {
  readonly id: string;
  readonly display_name: string;
}

/** The beginning of the keys of all queries below. */
export const peopleKey = ["people"] as const;

export const peopleQuery = (company: string) =>
  queryOptions({
    queryKey: [...peopleKey, "users", company],
    queryFn: async ({ signal }) => {
      const params = { path: { id: company } };
      return (await answerOf(api.GET("/company/{id}/users", { params, signal }))).company.users;
    },
  });

export const invitationsQuery = (company: string) =>
  queryOptions({
    queryKey: [...peopleKey, "invitations", company],
    queryFn: async ({ signal }) => {
      const params = { path: { id: company } };
      return (await answerOf(api.GET("/company/{id}/invitations", { params, signal }))).invitations;
    },
  });

const maxSiteNames = 50;

/** The first sites whose name contains `search`. */
export const siteNamesQuery = (search: string) =>
  queryOptions({
    queryKey: ["sites", "names", search],
    queryFn: async ({ signal }): Promise<readonly SiteName[]> => {
      const query = { limit: maxSiteNames, ...(search !== "" && { search }) };
      return (await answerOf(api.GET("/sites", { params: { query }, signal }))).company.sites;
    },
    placeholderData: (previous) => previous,
  });
