/** Checks that an answer is documented: its status, its body, and the code and members of refusals. */
import { type Endpoint, refusalsOf } from "@sitewright/contract/endpoint.ts";
import { refusalData } from "@sitewright/contract/errorResponses.ts";
import { openApiDocument } from "@sitewright/contract/openapi.ts";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const document = openApiDocument();
const ajv = new Ajv2020({ strict: false, validateSchema: false });
addFormats.default(ajv, ["email", "date-time"]);
ajv.addSchema(document, "openapi");

const validators = new Map<string, ValidateFunction | null>();

/** Null if the status is not documented. */
function validatorOf(row: Endpoint, status: number): ValidateFunction | null {
  const responses = `/paths/${row.path.replaceAll("/", "~1")}/${row.method.toLowerCase()}/responses/${status}`;
  const known = validators.get(responses);
  if (known !== undefined) return known;
  const response = at(responses);
  const { $ref: reference } = Object(response);
  const place = typeof reference === "string" ? reference : `#${responses}`;
  const schema = `openapi${place}/content/application~1json/schema`;
  const validator = response === undefined ? null : ajv.compile({ $ref: schema });
  validators.set(responses, validator);
  return validator;
}

function at(pointer: string): unknown {
  const names = pointer.slice(1).split("/");
  return names.reduce<unknown>((node, name) => Object(node)[name.replaceAll("~1", "/")], document);
}

/** What is undocumented about an answer of an endpoint. */
export function problemsOf(row: Endpoint, status: number, body: unknown): string[] {
  const isValid = validatorOf(row, status);
  if (isValid === null) return ["the status is not documented"];
  if (!isValid(body)) return [`${ajv.errorsText(isValid.errors)} in ${JSON.stringify(body).slice(0, 500)}`];
  if (status !== 400) return [];
  const members = new Set(["errors", ...Object.keys(refusalData(refusalsOf(row)).properties)]);
  const unknown = Object.keys(Object(Object(body).data)).filter((member) => !members.has(member));
  return unknown.map((member) => `${member} is not a documented member of data: ${JSON.stringify(body)}`);
}
