/** `company create`, `company delete` and `company list`, in the database of the running installation. */
import { createCompany, type NewCompany, UnusableCompany } from "../app/company/companies.ts";
import { recordOperatorAction } from "../store/company/activity.ts";
import { deleteChain } from "../store/company/activitySeals.ts";
import { deleteCompany, hasCompanyNamed, listCompanies } from "../store/company/companies.ts";
import { operatorActor } from "./actor.ts";
import type { Run } from "./command.ts";
import { withRunningDatabase } from "./database.ts";
import { exitFailed, Failure } from "./failure.ts";
import { tableOf } from "./formatting.ts";

export const create: Run = ({ words: [name = ""], flags }, { config }) =>
  withRunningDatabase(config, async (database) => {
    try {
      if (await hasCompanyNamed(database, name.trim())) {
        throw new Failure(`There already is a company called "${name.trim()}". Choose another name.`, exitFailed);
      }
      const company = await createCompany(database, { name }, (transaction, { company_id }) => {
        const parameters = { companyId: company_id, companyName: name };
        return recordOperatorAction(transaction, { type: "createCompany", parameters, actor: operatorActor() });
      });
      return flags.json === true ? JSON.stringify(company) : format(company, name);
    } catch (error) {
      if (error instanceof UnusableCompany) throw new Failure(error.message, exitFailed, { cause: error });
      throw error;
    }
  });

function format({ company_id, api_key, admin_email, admin_password }: NewCompany, name: string): string {
  return [
    `Created the company "${name}". The key and the password are shown only once.`,
    `  Company   ${company_id}`,
    `  API key   ${api_key}`,
    `  Owner     ${admin_email}`,
    `  Password  ${admin_password}`,
  ].join("\n");
}

export const remove: Run = ({ words: [companyId = ""] }, { config }) =>
  withRunningDatabase(config, async (database) => {
    const company = (await listCompanies(database)).find(({ id }) => id === companyId.toLowerCase());
    if (company === undefined) {
      throw new Failure(
        `There is no company ${companyId}. List them with: npm run --silent operator -- company list`,
        exitFailed,
      );
    }
    const isDeleted = await database.transaction().execute(async (transaction) => {
      if (!(await deleteCompany(transaction, company.id))) return false;
      await deleteChain(transaction, company.id);
      const parameters = { companyId: company.id, companyName: company.name };
      await recordOperatorAction(transaction, { type: "deleteCompany", parameters, actor: operatorActor() });
      return true;
    });
    if (isDeleted) return `Deleted the company "${company.name}".`;
    throw new Failure(
      `"${company.name}" still has sites, or content in the archives. Delete its sites with "without_backup": true, and repeat this two days later: then their backups have left the archives.`,
      exitFailed,
    );
  });

export const list: Run = ({ flags }, { config }) =>
  withRunningDatabase(config, async (database) => {
    const companies = await listCompanies(database);
    if (flags.json === true) return JSON.stringify(companies);
    const rows = companies.map(({ id, name, owner_email, sites }) => [id, name, owner_email ?? "", String(sites)]);
    return tableOf([["COMPANY ID", "NAME", "OWNER", "SITES"], ...rows]);
  });
