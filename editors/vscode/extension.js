// Start `cutec lsp` for .cute files and stop it with VS Code.
"use strict";

const { workspace } = require("vscode");
const { LanguageClient, TransportKind } =
    require("vscode-languageclient/node");

let client;

async function activate(context) {
  const settings = workspace.getConfiguration("cute");
  const folders = settings.get("includeFolders", []);
  const server = {
    command: settings.get("cutec", "cutec"),
    args: ["lsp", ...folders.flatMap((f) => ["-I", f])],
    transport: TransportKind.stdio,
  };

  client = new LanguageClient("cute", "cutec", server, {
    documentSelector: [
      { scheme: "file", language: "cute" },
      { scheme: "untitled", language: "cute" },
    ],
    synchronize: {
      fileEvents: workspace.createFileSystemWatcher("**/*.cute"),
    },
  });
  context.subscriptions.push(client);
  await client.start();
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
