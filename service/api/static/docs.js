// The addresses are relative, so that the page also works behind a path prefix.

// Shows the call by curl that the document has for each route, above the answers.
const Samples = ({ React, specSelectors }) => ({
  wrapComponents: {
    responses: (Original) => (props) => {
      const samples = specSelectors.specJson().getIn(["paths", props.path, props.method, "x-codeSamples"]);
      const blocks = (samples ? samples.toJS() : []).map((sample) =>
        React.createElement(
          "div",
          { className: "opblock-section", key: sample.label },
          React.createElement(
            "div",
            { className: "opblock-section-header" },
            React.createElement("h4", null, `Example: ${sample.label}`),
          ),
          React.createElement(
            "div",
            { className: "opblock-description-wrapper" },
            React.createElement("pre", { className: "microlight" }, sample.source),
          ),
        ),
      );
      return React.createElement(React.Fragment, null, ...blocks, React.createElement(Original, props));
    },
  },
});

SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  displayOperationId: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  plugins: [Samples],
  // Without this the page would ask a server elsewhere whether the document is valid.
  validatorUrl: null,
});
