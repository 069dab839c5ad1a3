/** The OpenAPI description and its viewer, drawn from the routes themselves. */

import type { Route } from "./routes.js";

function operation(route: Route): object {
  const { schema } = route.reads;
  const fields = "properties" in schema ? Object.entries(schema.properties as object) : [];
  const required = "required" in schema ? (schema.required as string[]) : [];
  const query = fields.map(([name, field]) => ({ name, in: "query", required: required.includes(name), schema: field }));
  return {
    ...(route.method === "GET"
      ? { parameters: query }
      : { requestBody: { content: { "application/json": { schema } } } }),
    security: route.access === "open" ? [] : [{ key: [] }, { bearer: [] }],
    responses: {
      [route.status]: { description: "done" },
      default: { description: "refused", content: { "application/json": {} } },
    },
  };
}

export function openapi(routes: readonly Route[], server: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Harbour", version: "1" },
    servers: [{ url: server }],
    components: {
      securitySchemes: {
        key: { type: "apiKey", in: "header", name: "X-Api-Key" },
        bearer: { type: "http", scheme: "bearer" },
      },
    },
    paths,
  };
}

const VIEWER = "https://unpkg.com/swagger-ui-dist@5.17.14";

export const viewer = `<!doctype html>
<title>Harbour</title>
<link rel="stylesheet" href="${VIEWER}/swagger-ui.css">
<div id="api"></div>
<script src="${VIEWER}/swagger-ui-bundle.js"></script>
<script>SwaggerUIBundle({ url: "openapi.json", dom_id: "#api" });</script>
`;
