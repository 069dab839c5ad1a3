// Tries an operation in the viewer: opens it, executes it, and tells the address that was called and the status that came.

import { visit } from "./browser.js";

await visit(async (page) => {
  const operation = page.locator("[id$=get_api_payers]");
  await operation.locator(".opblock-summary-control").click();
  await operation.locator(".try-out__btn").click();
  await operation.locator(".execute").click();
  const answer = operation.locator(".live-responses-table .response");
  return {
    called: await operation.locator(".request-url pre").textContent(),
    status: (await answer.locator(".response-col_status").textContent()).trim(),
    answered: await answer.locator(".response-col_description").textContent(),
  };
});
