/*
 * The grammar of the language: LALR(1), reentrant, without conflicts.
 *
 * It reads as the manual does (man 7 cute). An action builds one node and does
 * nothing else: no look-up, no message. Three rules keep it free of conflicts
 * and should stay: arguments of attributes have parentheses; `where` lists
 * have no trailing comma; an if value is not an operand.
 *
 * Errors. `error RESYNC` stands where parsing can go on. The feeder (feed.c)
 * skips tokens by brackets and lines and then hands on RESYNC. Default
 * reductions are on: they bring a state up to the statement that a wrong token
 * ends, so that `let x = 1` without its semicolon is kept, and shorten the
 * list of what was expected.
 */
%define api.pure full
%define api.prefix {cj_gram_}
%define api.token.prefix {T_}
%define api.location.type {struct cj_span}
%define parse.error custom
%locations
%expect 0
%param { struct cj_parser *p }
%initial-action { @$ = (struct cj_span){ p->tree->source, 0, 0 }; }

%code requires {
#include "parser/parser_priv.h"
}

%union {
	struct cj_ident ident;
	struct cj_text text;
	struct cj_node_number number;
	uint64_t integer;
	enum cj_mode mode;
	struct cj_node *node;
	struct cj_items *items;
}

%code {
/* Parse stacks grow in the arena; an end to it bounds `((((...`. */
#define YYMAXDEPTH	200000
#define YYMALLOC(n)	cj_alloc(p->arena, (n))
#define YYFREE(block)	((void)(block))

#define YYLLOC_DEFAULT(all, rhs, n)					\
	((all) = (n) > 0 ?						\
	    cj_span_join(YYRHSLOC(rhs, 1), YYRHSLOC(rhs, n)) :		\
	    (struct cj_span){ YYRHSLOC(rhs, 0).source,			\
	    YYRHSLOC(rhs, 0).end, YYRHSLOC(rhs, 0).end })

#define NODE(at, k, ...)						\
	cj_build(p, (at), &(struct cj_node){ .kind = CJ_NODE_##k, __VA_ARGS__ })
#define LEAF(at, k)	cj_build(p, (at), &(struct cj_node){ .kind = CJ_NODE_##k })
#define NAME(i)		NODE((i).span, NAME, .name = { (i).name })
#define BINARY(at, op, at_op, l, r)					\
	NODE(at, BINARY, .binary = { CJ_OPER_##op, at_op, l, r })
#define UNARY(at, op, e) NODE(at, UNARY, .unary = { CJ_OPER_##op, e })
#define ASSIGN(at, op, at_op, l, r)					\
	NODE(at, ASSIGN, .assign = { CJ_OPER_##op, at_op, l, r })
#define LIST(items)	cj_items_list(items)
#define ADD(items, node) cj_items_add(p, items, node)

/*
 * bison asks for a token with yyerrstatus 3 only when it has thrown one away:
 * then `error` is on top of the stack, at the place of all that went with it.
 * The feeder has to know, and only a macro can see either.
 */
#undef yylex
#define yylex(value, at, p)						\
	cj_gram_lex((value), (at), (p), yyerrstatus == 3 ? yylsp : NULL)
static int cj_gram_lex(CJ_GRAM_STYPE *value, CJ_GRAM_LTYPE *at,
    struct cj_parser *p, const struct cj_span *dropped);
static void cj_gram_error(const CJ_GRAM_LTYPE *at, struct cj_parser *p,
    const char *text);
}

%token NAME "name" INTEGER "integer" NUMBER "number" STRING "string"
%token CUDA_TEXT "CUDA text"
%token BREAK "break" CONST "const" CONTINUE "continue" ELSE "else"
%token FALSE "false" FN "fn" FOR "for" IF "if" IN "in" LET "let"
%token RETURN "return" TRUE "true" VAR "var" WHILE "while" ANY "_"
%token AS "as" BENCH "bench" BITCODE "bitcode" CONSUME "consume" CUDA "cuda"
%token EXTERN "extern" IMPORT "import" KERNEL "kernel" LAUNCH "launch"
%token ORDER "order" OVER "over" PIPELINE "pipeline" PRODUCE "produce"
%token ROLE "role" SHARED "shared" TARGET "target" TEST "test" TIME "time"
%token TMEM "tmem" TUNE "tune" TURN "turn" WHERE "where"
%token LPAREN "(" RPAREN ")" LBRACKET "[" RBRACKET "]" LBRACE "{" RBRACE "}"
%token COMMA "," SEMICOLON ";" COLON ":" DOT "." RANGE ".." GIVES "=>"
%token ARROW "->" ASSIGN "=" OR "||" AND "&&" EQ "==" NE "!=" LT "<" GT ">"
%token LE "<=" GE ">=" BIT_OR "|" BIT_XOR "^" BIT_AND "&" SHL "<<" SHR ">>"
%token PLUS "+" MINUS "-" STAR "*" SLASH "/" PERCENT "%" NOT "!" BIT_NOT "~"
%token ADD_SET "+=" SUB_SET "-=" MUL_SET "*=" DIV_SET "/=" MOD_SET "%="
%token AND_SET "&=" OR_SET "|=" XOR_SET "^=" SHL_SET "<<=" SHR_SET ">>="
%token RESYNC "end of the skipped text"
%token END 0 "end of file"

%type <ident> NAME AS BENCH BITCODE CONSUME CUDA EXTERN IMPORT KERNEL LAUNCH
%type <ident> ORDER OVER PIPELINE PRODUCE ROLE SHARED TARGET TEST TIME TMEM
%type <ident> TUNE TURN WHERE name alias
%type <text> STRING CUDA_TEXT
%type <integer> INTEGER
%type <number> NUMBER
%type <mode> mode

%type <node> decl fn fnhead result param type opttype init attr domain each
%type <node> block stmt if binding field path count expr operation unary
%type <node> postfix primary item
%type <items> params paramlist attrs where facts targets names over eachlist
%type <items> stmts arms bindings fields valuearms strings list items

%left "||"
%left "&&"
%nonassoc "==" "!=" "<" ">" "<=" ">=" "in"
%nonassoc ".."
%nonassoc ":"
%left "|"
%left "^"
%left "&"
%left "<<" ">>"
%left "+" "-"
%left "*" "/" "%"

%%

/* ---- files --------------------------------------------------------------- */

file	: decls
	;
decls	: %empty
	| decls decl			{ ADD(p->decls, $decl); }
	| decls error RESYNC		{ yyerrok; }
	;
decl	: "import" STRING alias semi
		{ $$ = NODE(@$, IMPORT, .import = { $2, @2, $alias }); }
	| "const" binding opttype "=" expr semi
		{ $$ = NODE(@$, CONST, .let = { $binding, $opttype, $expr }); }
	| fn
	| "extern" fnhead semi		{ $$ = cj_build_extern(p, @$, $2); }
	| "extern" fn			{ $$ = cj_build_extern(p, @$, $2); }
	| "extern" "cuda" CUDA_TEXT
		{ $$ = NODE(@$, EXTERN_CUDA, .cuda = { false, $3, @3 }); }
	| "extern" "cuda" STRING semi
		{ $$ = NODE(@$, EXTERN_CUDA, .cuda = { true, $3, @3 }); }
	| "extern" "bitcode" STRING semi
		{ $$ = NODE(@$, EXTERN_BITCODE, .bitcode = { $3, @3 }); }
	| "kernel" name params where targets block
		{ $$ = NODE(@$, KERNEL, .kernel = { $name, LIST($params),
		    LIST($where), LIST($targets), $block }); }
	| "test" STRING over block
		{ $$ = NODE(@$, TEST, .test = { $2, @2, LIST($over), $block }); }
	| "bench" STRING over block
		{ $$ = NODE(@$, BENCH, .test = { $2, @2, LIST($over), $block }); }
	| "tune" name over where semi
		{ $$ = NODE(@$, TUNE, .tune = { $name, LIST($over), LIST($where) }); }
	;
alias	: %empty			{ $$ = (struct cj_ident){ 0, @$ }; }
	| "as" name			{ $$ = $name; }
	;
semi	: ";"
	| error RESYNC			{ yyerrok; }
	;

fn	: fnhead block			{ $$ = cj_build_fn(p, @$, $1, $2); }
	| fnhead "=>" expr semi		{ $$ = cj_build_fn(p, @$, $1, $3); }
	;
fnhead	: "fn" name params result
		{ $$ = NODE(@$, FN, .fn = { false, $name, LIST($params),
		    $result, NULL }); }
	;
result	: %empty			{ $$ = NULL; }
	| "->" type			{ $$ = $type; }
	;

params	: "(" ")"			{ $$ = NULL; }
	| "(" paramlist ")"		{ $$ = $2; }
	| "(" paramlist "," ")"		{ $$ = $2; }
	| "(" error RESYNC ")"		{ $$ = NULL; }
	| "(" paramlist error RESYNC ")" { $$ = $2; }
	;
paramlist : param			{ $$ = ADD(NULL, $param); }
	| paramlist "," param		{ $$ = ADD($1, $param); }
	;
param	: mode name init
		{ $$ = NODE(@$, PARAM, .param = { $mode, $name, NULL, LIST(NULL),
		    NULL, $init }); }
	| mode name "in" domain init
		{ $$ = NODE(@$, PARAM, .param = { $mode, $name, NULL, LIST(NULL),
		    $domain, $init }); }
	| mode name ":" type attrs init
		{ $$ = NODE(@$, PARAM, .param = { $mode, $name, $type,
		    LIST($attrs), NULL, $init }); }
	| mode name ":" type attrs "in" domain init
		{ $$ = NODE(@$, PARAM, .param = { $mode, $name, $type,
		    LIST($attrs), $domain, $init }); }
	;
mode	: %empty			{ $$ = CJ_MODE_PLAIN; }
	| "const"			{ $$ = CJ_MODE_CONST; }
	| "var"				{ $$ = CJ_MODE_VAR; }
	;
type	: postfix
	| "fn"				{ $$ = LEAF(@$, FN_TYPE); }
	;
opttype	: %empty			{ $$ = NULL; }
	| ":" type			{ $$ = $type; }
	;
init	: %empty			{ $$ = NULL; }
	| "=" expr			{ $$ = $expr; }
	;
attrs	: %empty			{ $$ = NULL; }
	| attrs attr			{ $$ = ADD($1, $attr); }
	;
attr	: path				{ $$ = cj_build_attr(p, @$, $1, NULL); }
	| path "(" list ")"		{ $$ = cj_build_attr(p, @$, $1, $list); }
	;
where	: %empty			{ $$ = NULL; }
	| "where" facts			{ $$ = $facts; }
	;
facts	: expr				{ $$ = ADD(NULL, $expr); }
	| facts "," expr		{ $$ = ADD($1, $expr); }
	;
targets	: %empty			{ $$ = NULL; }
	| "target" names		{ $$ = $names; }
	;
names	: name				{ $$ = ADD(NULL, NAME($name)); }
	| names "," name		{ $$ = ADD($1, NAME($name)); }
	;
over	: %empty			{ $$ = NULL; }
	| "over" eachlist		{ $$ = $eachlist; }
	;
eachlist : each				{ $$ = ADD(NULL, $each); }
	| eachlist "," each		{ $$ = ADD($1, $each); }
	;
each	: binding "in" domain
		{ $$ = NODE(@$, EACH, .each = { $binding, $domain }); }
	;
domain	: "{" list "}"			{ $$ = NODE(@$, SET, .set = { LIST($list) }); }
	| operation
	;

/* ---- statements ---------------------------------------------------------- */

block	: "{" stmts "}"			{ $$ = NODE(@$, BLOCK, .block = { LIST($stmts) }); }
	;
stmts	: %empty			{ $$ = NULL; }
	| stmts stmt			{ $$ = ADD($1, $stmt); }
	| stmts error RESYNC		{ yyerrok; }
	;
stmt	: block
	| fn
	| "const" binding opttype "=" expr semi
		{ $$ = NODE(@$, CONST, .let = { $binding, $opttype, $expr }); }
	| "let" binding opttype "=" expr semi
		{ $$ = NODE(@$, LET, .let = { $binding, $opttype, $expr }); }
	| "var" binding opttype "=" expr semi
		{ $$ = NODE(@$, VAR, .let = { $binding, $opttype, $expr }); }
	| if
	| "for" binding "in" expr attrs block
		{ $$ = NODE(@$, FOR, .for_stmt = { false, $binding, $expr,
		    LIST($attrs), $block }); }
	| "const" "for" binding "in" expr attrs block
		{ $$ = NODE(@$, FOR, .for_stmt = { true, $binding, $expr,
		    LIST($attrs), $block }); }
	| "while" expr attrs block
		{ $$ = NODE(@$, WHILE, .while_stmt = { $expr, LIST($attrs), $block }); }
	| "break" semi			{ $$ = LEAF(@$, BREAK); }
	| "continue" semi		{ $$ = LEAF(@$, CONTINUE); }
	| "return" ";"			{ $$ = LEAF(@$, RETURN); }
	| "return" expr semi
		{ $$ = NODE(@$, RETURN, .return_stmt = { $expr }); }
	| postfix semi			{ $$ = NODE(@$, DO, .do_stmt = { $1 }); }
	| postfix "=" expr semi		{ $$ = ASSIGN(@$, NONE, @2, $1, $3); }
	| postfix "+=" expr semi	{ $$ = ASSIGN(@$, ADD, @2, $1, $3); }
	| postfix "-=" expr semi	{ $$ = ASSIGN(@$, SUB, @2, $1, $3); }
	| postfix "*=" expr semi	{ $$ = ASSIGN(@$, MUL, @2, $1, $3); }
	| postfix "/=" expr semi	{ $$ = ASSIGN(@$, DIV, @2, $1, $3); }
	| postfix "%=" expr semi	{ $$ = ASSIGN(@$, MOD, @2, $1, $3); }
	| postfix "&=" expr semi	{ $$ = ASSIGN(@$, BIT_AND, @2, $1, $3); }
	| postfix "|=" expr semi	{ $$ = ASSIGN(@$, BIT_OR, @2, $1, $3); }
	| postfix "^=" expr semi	{ $$ = ASSIGN(@$, BIT_XOR, @2, $1, $3); }
	| postfix "<<=" expr semi	{ $$ = ASSIGN(@$, SHL, @2, $1, $3); }
	| postfix ">>=" expr semi	{ $$ = ASSIGN(@$, SHR, @2, $1, $3); }
	| "shared" name ":" type attrs semi
		{ $$ = NODE(@$, SHARED, .field = { false, $name, $type, LIST($attrs) }); }
	| "tmem" name ":" type attrs semi
		{ $$ = NODE(@$, TMEM, .field = { true, $name, $type, LIST($attrs) }); }
	| "pipeline" name "(" list ")" attrs "{" fields "}"
		{ $$ = NODE(@$, PIPELINE, .pipeline = { $name, LIST($list),
		    LIST($attrs), LIST($fields) }); }
	| "order" name "(" list ")" semi
		{ $$ = NODE(@$, ORDER, .order = { $name, LIST($list) }); }
	| "role" name count attrs block
		{ $$ = NODE(@$, ROLE, .role = { $name, $count, LIST($attrs), $block }); }
	| "produce" path "as" name attrs block
		{ $$ = NODE(@$, PRODUCE, .stage = { $path, $name, LIST($attrs), $block }); }
	| "consume" path "as" name attrs block
		{ $$ = NODE(@$, CONSUME, .stage = { $path, $name, LIST($attrs), $block }); }
	| "turn" path "as" expr block
		{ $$ = NODE(@$, TURN, .turn = { $path, $expr, $block }); }
	| "launch" attr attrs block
		{ $$ = NODE(@$, LAUNCH, .launch = { $attr, LIST($attrs), $block }); }
	| "launch" attr semi
		{ $$ = NODE(@$, LAUNCH, .launch = { $attr, LIST(NULL), NULL }); }
	| "time" attr attrs semi
		{ $$ = NODE(@$, TIME, .launch = { $attr, LIST($attrs), NULL }); }
	;
if	: arms
		{ $$ = NODE(@$, IF, .if_stmt = { LIST($arms), NULL }); }
	| arms "else" block
		{ $$ = NODE(@$, IF, .if_stmt = { LIST($arms), $block }); }
	;
arms	: "if" expr block
		{ $$ = ADD(NULL, NODE(@$, ARM, .arm = { false, $expr, $block })); }
	| "const" "if" expr block
		{ $$ = ADD(NULL, NODE(@$, ARM, .arm = { true, $expr, $block })); }
	| arms "else" "if" expr block
		{ $$ = ADD($1, NODE(cj_span_join(@3, @5), ARM,
		    .arm = { false, $expr, $block })); }
	| arms "else" "const" "if" expr block
		{ $$ = ADD($1, NODE(cj_span_join(@3, @6), ARM,
		    .arm = { true, $expr, $block })); }
	;
binding	: name				{ $$ = NAME($name); }
	| "_"				{ $$ = LEAF(@$, ANY); }
	| "(" bindings ")"
		{ $$ = NODE(@$, TUPLE, .tuple = { LIST($bindings) }); }
	| "(" bindings "," ")"
		{ $$ = NODE(@$, TUPLE, .tuple = { LIST($bindings) }); }
	;
bindings : binding			{ $$ = ADD(NULL, $binding); }
	| bindings "," binding		{ $$ = ADD($1, $binding); }
	;
fields	: %empty			{ $$ = NULL; }
	| fields field			{ $$ = ADD($1, $field); }
	| fields error RESYNC		{ yyerrok; }
	;
field	: name ":" type attrs semi
		{ $$ = NODE(@$, FIELD, .field = { false, $name, $type, LIST($attrs) }); }
	| "tmem" name ":" type attrs semi
		{ $$ = NODE(@$, FIELD, .field = { true, $name, $type, LIST($attrs) }); }
	;
path	: name				{ $$ = NAME($name); }
	| path "." name
		{ $$ = NODE(@$, MEMBER, .member = { $1, $name }); }
	| path "[" list "]"
		{ $$ = NODE(@$, INDEX, .index = { $1, LIST($list) }); }
	;
count	: %empty			{ $$ = NULL; }
	| "[" expr "]"			{ $$ = $expr; }
	;

/* ---- expressions --------------------------------------------------------- */

expr	: operation
	| "fn" params "=>" expr
		{ $$ = NODE(@$, LAMBDA, .lambda = { LIST($params), $4 }); }
	| "fn" params block
		{ $$ = NODE(@$, LAMBDA, .lambda = { LIST($params), $block }); }
	| valuearms "else" "{" expr "}"
		{ $$ = NODE(@$, IF_VALUE, .if_value = { LIST($1), $4 }); }
	;
valuearms : "if" expr "{" expr "}"
		{ $$ = ADD(NULL, NODE(@$, ARM, .arm = { false, $2, $4 })); }
	| valuearms "else" "if" expr "{" expr "}"
		{ $$ = ADD($1, NODE(cj_span_join(@3, @7), ARM,
		    .arm = { false, $4, $6 })); }
	;
operation : unary
	| operation "||" operation	{ $$ = BINARY(@$, OR, @2, $1, $3); }
	| operation "&&" operation	{ $$ = BINARY(@$, AND, @2, $1, $3); }
	| operation "==" operation	{ $$ = BINARY(@$, EQ, @2, $1, $3); }
	| operation "!=" operation	{ $$ = BINARY(@$, NE, @2, $1, $3); }
	| operation "<" operation	{ $$ = BINARY(@$, LT, @2, $1, $3); }
	| operation ">" operation	{ $$ = BINARY(@$, GT, @2, $1, $3); }
	| operation "<=" operation	{ $$ = BINARY(@$, LE, @2, $1, $3); }
	| operation ">=" operation	{ $$ = BINARY(@$, GE, @2, $1, $3); }
	| operation "in" "{" list "}"
		{ $$ = NODE(@$, IN, .in = { $1, LIST($list) }); }
	| operation ".." operation
		{ $$ = NODE(@$, RANGE, .range = { $1, $3 }); }
	| operation ":" operation
		{ $$ = NODE(@$, LAYOUT, .layout = { $1, $3 }); }
	| operation "|" operation	{ $$ = BINARY(@$, BIT_OR, @2, $1, $3); }
	| operation "^" operation	{ $$ = BINARY(@$, BIT_XOR, @2, $1, $3); }
	| operation "&" operation	{ $$ = BINARY(@$, BIT_AND, @2, $1, $3); }
	| operation "<<" operation	{ $$ = BINARY(@$, SHL, @2, $1, $3); }
	| operation ">>" operation	{ $$ = BINARY(@$, SHR, @2, $1, $3); }
	| operation "+" operation	{ $$ = BINARY(@$, ADD, @2, $1, $3); }
	| operation "-" operation	{ $$ = BINARY(@$, SUB, @2, $1, $3); }
	| operation "*" operation	{ $$ = BINARY(@$, MUL, @2, $1, $3); }
	| operation "/" operation	{ $$ = BINARY(@$, DIV, @2, $1, $3); }
	| operation "%" operation	{ $$ = BINARY(@$, MOD, @2, $1, $3); }
	;
unary	: postfix
	| "-" unary			{ $$ = UNARY(@$, NEG, $2); }
	| "!" unary			{ $$ = UNARY(@$, NOT, $2); }
	| "~" unary			{ $$ = UNARY(@$, BIT_NOT, $2); }
	;
postfix	: primary
	| postfix "(" list ")"
		{ $$ = NODE(@$, CALL, .call = { $1, LIST($list) }); }
	| postfix "[" list "]"
		{ $$ = NODE(@$, INDEX, .index = { $1, LIST($list) }); }
	| postfix "." name
		{ $$ = NODE(@$, MEMBER, .member = { $1, $name }); }
	;
primary	: name				{ $$ = NAME($name); }
	| "_"				{ $$ = LEAF(@$, ANY); }
	| INTEGER			{ $$ = NODE(@$, INTEGER, .integer = { $1 }); }
	| NUMBER			{ $$ = NODE(@$, NUMBER, .number = $1); }
	| strings			{ $$ = cj_build_strings(p, @$, $strings); }
	| "true"			{ $$ = NODE(@$, BOOL, .boolean = { true }); }
	| "false"			{ $$ = NODE(@$, BOOL, .boolean = { false }); }
	| "." name			{ $$ = NODE(@$, CHOICE, .choice = { $name }); }
	| "(" list ")"			{ $$ = cj_build_group(p, @$, $list); }
	;
strings	: STRING
		{ $$ = ADD(NULL, NODE(@$, STRING, .string = { $1 })); }
	| strings STRING
		{ $$ = ADD($1, NODE(@2, STRING, .string = { $2 })); }
	;
list	: %empty			{ $$ = cj_items(p); }
	| items
	| items ","			{ $$ = cj_items_comma($1); }
	;
items	: item				{ $$ = ADD(NULL, $item); }
	| items "," item		{ $$ = ADD($1, $item); }
	;
item	: expr
	| name "=" expr			{ $$ = NODE(@$, NAMED, .named = { $name, $expr }); }
	| "*" unary			{ $$ = NODE(@$, SPREAD, .spread = { $2 }); }
	| "const" binding
		{ $$ = NODE(@$, CONST_BIND, .const_bind = { $binding, NULL }); }
	| "const" binding "in" domain
		{ $$ = NODE(@$, CONST_BIND, .const_bind = { $binding, $domain }); }
	;

/* A word is a name wherever it does not stand in its one place. */
name	: NAME
	| AS | BENCH | BITCODE | CONSUME | CUDA | EXTERN | IMPORT | KERNEL
	| LAUNCH | ORDER | OVER | PIPELINE | PRODUCE | ROLE | SHARED | TARGET
	| TEST | TIME | TMEM | TUNE | TURN | WHERE
	;

%%

/* The scanner's codes are the grammar's. */
#define TOKEN(name, text)						\
	static_assert((int)T_##name == (int)CJ_TOKEN_##name,		\
	    "gram.y declares the tokens in the order of token.def");
#include "lexer/token.def"
#undef TOKEN

static int
cj_gram_lex(CJ_GRAM_STYPE *value, CJ_GRAM_LTYPE *at, struct cj_parser *p,
    const struct cj_span *dropped)
{
	struct cj_token t = dropped != NULL ? cj_feed_resync(p, dropped) :
	    cj_feed(p);

	*at = t.span;
	if (t.kind == CJ_TOKEN_INTEGER)
		value->integer = t.integer;
	else if (t.kind == CJ_TOKEN_NUMBER)
		value->number = (struct cj_node_number){ t.number.value,
		    t.number.text };
	else if (t.kind == CJ_TOKEN_STRING || t.kind == CJ_TOKEN_CUDA_TEXT)
		value->text = (struct cj_text){ t.string.bytes,
		    t.string.length };
	else
		value->ident = (struct cj_ident){ t.name, t.span };
	return (int)t.kind;
}

/* bison's numbers of the tokens follow their codes, behind END and two. */
static_assert((int)YYSYMBOL_NAME == 3 && (int)YYSYMBOL_RESYNC ==
    3 + CJ_TOKEN_RESYNC - CJ_TOKEN_NAME, "tokens are numbered in order");

static int
yyreport_syntax_error(const yypcontext_t *context, struct cj_parser *p)
{
	yysymbol_kind_t kinds[YYNTOKENS];
	struct cj_expected expected = { { 0 } };
	int i, n = yypcontext_expected_tokens(context, kinds, YYNTOKENS);

	for (i = 0; i < n; i++) {
		if (kinds[i] == YYSYMBOL_YYEOF)
			expected.at[CJ_TOKEN_AFTER - CJ_TOKEN_NAME] = 1;
		else if (kinds[i] >= YYSYMBOL_NAME)
			expected.at[kinds[i] - YYSYMBOL_NAME] = 1;
	}
	cj_syntax_error(p, &expected);
	return 0;
}

/* Only for want of stack; other messages are yyreport_syntax_error's. */
static void
cj_gram_error(const CJ_GRAM_LTYPE *at, struct cj_parser *p, const char *text)
{
	(void)text;
	cj_report_too_deep(p, *at);
}

void
cj_gram_run(struct cj_parser *p)
{
	cj_gram_parse(p);
}
