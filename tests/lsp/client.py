#!/usr/bin/env python3
"""Drive `cutec lsp` with the client of pygls: client.py CUTEC.

A client that others wrote: it reads every answer into the types of the
protocol, so that one of another form fails. Needs pygls 2 (from PyPI); without
it the tests are skipped. The last line counts.
"""

import asyncio
import sys

try:
    from lsprotocol import types as lsp
    from pygls.lsp.client import LanguageClient
except ImportError as missing:
    print("skipped: %s (pip install pygls)" % missing)
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

URI = "file:///tmp/no-such-folder/client.cute"
SECONDS = 60

TEXT = """\
// The larger one.
fn larger(a, b) => max(a, b);
const N = 3 * 4;
kernel k(x: tensor(f32, (M, _)), y: tensor(f32, M))
{
    launch grid(1) block(N) {
        let i = thread_idx.x;
        if i < M { y[i]=larger(x[i, 0], f32(0)); }
    }
}
"""
WRONG = TEXT.replace("larger(x", "lager(x")


class Client:
    """The client with what it was told."""

    def __init__(self):
        self.client = LanguageClient("cutec-tests", "1")
        self.found = asyncio.Queue()

        @self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: lsp.PublishDiagnosticsParams):
            self.found.put_nowait(params)

    async def start(self, cutec):
        await self.client.start_io(cutec, "lsp")
        return await self.client.initialize_async(lsp.InitializeParams(
            capabilities=lsp.ClientCapabilities(), process_id=None,
            root_uri=None))

    async def diagnostics(self, version):
        while True:
            p = await asyncio.wait_for(self.found.get(), SECONDS)
            if p.uri == URI and p.version == version:
                return p.diagnostics

    def open(self, text):
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(
            text_document=lsp.TextDocumentItem(
                uri=URI, language_id="cute", version=1, text=text)))

    def change(self, version, text):
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(
            text_document=lsp.VersionedTextDocumentIdentifier(
                uri=URI, version=version),
            content_changes=[
                lsp.TextDocumentContentChangeWholeDocument(text=text)]))


DOCUMENT = lsp.TextDocumentIdentifier(uri=URI)


def at(needle, shift=0, text=TEXT):
    before = text[:text.index(needle) + shift]
    return lsp.Position(line=before.count("\n"),
                        character=len(before) - before.rfind("\n") - 1)


def whole(kind, needle, shift=0, **more):
    return kind(text_document=DOCUMENT, position=at(needle, shift), **more)


async def capabilities(c, cutec):
    r = await c.start(cutec)
    assert r.server_info.name == "cutec"
    assert r.capabilities.hover_provider
    assert r.capabilities.text_document_sync.change == \
        lsp.TextDocumentSyncKind.Incremental
    c.client.initialized(lsp.InitializedParams())


async def right(c, _):
    c.open(TEXT)
    assert [d for d in await c.diagnostics(1) if d.severity ==
            lsp.DiagnosticSeverity.Error] == []


async def hover(c, _):
    r = await c.client.text_document_hover_async(
        whole(lsp.HoverParams, "larger(x"))
    assert r.contents.kind == lsp.MarkupKind.Markdown
    assert "fn larger(a, b)" in r.contents.value
    assert "The larger one." in r.contents.value
    r = await c.client.text_document_hover_async(
        whole(lsp.HoverParams, "N) {"))
    assert "value `12`" in r.contents.value, r
    assert await c.client.text_document_hover_async(
        whole(lsp.HoverParams, "3 * 4", 2)) is None


async def definition(c, _):
    r = await c.client.text_document_definition_async(
        whole(lsp.DefinitionParams, "larger(x"))
    assert [p.range.start for p in r] == [at("larger(a")], r


async def references(c, _):
    r = await c.client.text_document_references_async(
        whole(lsp.ReferenceParams, "larger(a",
              context=lsp.ReferenceContext(include_declaration=False)))
    assert [p.range.start for p in r] == [at("larger(x")], r
    r = await c.client.text_document_document_highlight_async(
        whole(lsp.DocumentHighlightParams, "larger(a"))
    assert len(r) == 2, r


async def rename(c, _):
    r = await c.client.text_document_prepare_rename_async(
        whole(lsp.PrepareRenameParams, "larger(a"))
    assert r.start == at("larger(a"), r
    r = await c.client.text_document_rename_async(
        whole(lsp.RenameParams, "larger(a", new_name="top"))
    assert len(r.changes[URI]) == 2, r


async def completion(c, _):
    r = await c.client.text_document_completion_async(
        whole(lsp.CompletionParams, "thread_idx.x", len("thread_idx.")))
    assert [i.label for i in r.items] == ["x", "y", "z"], r
    r = await c.client.text_document_completion_async(
        whole(lsp.CompletionParams, "larger(x"))
    labels = {i.label: i for i in r.items}
    assert {"i", "M", "y", "larger", "N", "max", "f32"} <= set(labels)
    assert labels["larger"].kind == lsp.CompletionItemKind.Function


async def signature(c, _):
    r = await c.client.text_document_signature_help_async(
        whole(lsp.SignatureHelpParams, "f32(0)"))
    assert r.active_parameter == 1, r
    assert [p.label for p in r.signatures[0].parameters] == ["a", "b"], r


async def symbols(c, _):
    r = await c.client.text_document_document_symbol_async(
        lsp.DocumentSymbolParams(text_document=DOCUMENT))
    assert [s.name for s in r] == ["larger", "N", "k"], r
    r = await c.client.text_document_folding_range_async(
        lsp.FoldingRangeParams(text_document=DOCUMENT))
    assert len(r) == 2, r


async def formatting(c, _):
    r = await c.client.text_document_formatting_async(
        lsp.DocumentFormattingParams(
            text_document=DOCUMENT, options=lsp.FormattingOptions(
                tab_size=4, insert_spaces=True)))
    assert len(r) == 1 and r[0].new_text.strip() == "=", r


async def quick_fix(c, _):
    c.change(2, WRONG)
    d = (await c.diagnostics(2))[0]
    assert d.code == "unknown-name" and d.source == "cute"
    assert d.range.start == at("lager(x", text=WRONG)
    r = await c.client.text_document_code_action_async(lsp.CodeActionParams(
        text_document=DOCUMENT, range=d.range,
        context=lsp.CodeActionContext(diagnostics=[d])))
    assert r[0].kind == lsp.CodeActionKind.QuickFix
    assert r[0].edit.changes[URI][0].new_text == "larger"


async def refused(c, _):
    try:
        await c.client.text_document_hover_async(lsp.HoverParams(
            text_document=lsp.TextDocumentIdentifier(uri="file:///none"),
            position=at("k(")))
    except Exception as error:  # noqa: BLE001
        assert "not open" in str(error), error
        return
    raise AssertionError("a text that is not open has a hover")


async def end(c, _):
    await c.client.shutdown_async(None)
    c.client.exit(None)
    await asyncio.wait_for(c.client.stop(), SECONDS)


async def main(cutec):
    steps = [capabilities, right, hover, definition, references, rename,
             completion, signature, symbols, formatting, quick_fix, refused,
             end]
    passed = failed = 0
    c = Client()
    for step in steps:
        try:
            await asyncio.wait_for(step(c, cutec), SECONDS)
            passed += 1
        except Exception as error:  # noqa: BLE001
            failed += 1
            print("FAIL %s: %s: %s" % (step.__name__, type(error).__name__,
                                       error))
            if step is capabilities:
                break
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1])))
