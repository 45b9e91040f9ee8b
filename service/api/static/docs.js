// The addresses are relative, so that the page also works behind a path prefix.
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  displayOperationId: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  // Without this the page would ask a server elsewhere whether the document is valid.
  validatorUrl: null,
});
