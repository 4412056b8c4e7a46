//! What of a program's syntax an excerpt is cut by, each with its lines.

use std::ops::RangeInclusive;

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Expr, ExprCall, ExprMethodCall, ExprPath, ImplItemFn, Item, ItemConst, ItemFn, ItemImpl, ItemMod, Macro, Pat, Path,
    Stmt,
};

/// Lines of a file that follow one another, counted from 1.
pub type Lines = RangeInclusive<usize>;

/// How a function can be named.
#[derive(PartialEq)]
enum Way {
    /// `name`
    Alone,
    /// `value.name()`
    OfValue,
    /// `Type::name`
    OfType,
}

/// A function, or a method.
pub struct Function {
    pub name: String,
    /// The trait that asks for it, if one does.
    pub of_trait: Option<String>,
    way: Way,
    pub lines: Lines,
}

pub struct Call {
    words: String,
    pub lines: Lines,
    /// The statement that it stands in, where it is given code that is written down in it.
    pub statement: Option<Lines>,
}

/// What matters of a file. Its tests do not.
#[derive(Default)]
pub struct Outline {
    pub functions: Vec<Function>,
    pub loops: Vec<Lines>,
    /// The innermost statements in which a function gets all laps.
    pub handed_on: Vec<Lines>,
    /// Constants of these names, in which a program of another language stands.
    pub units: Vec<Lines>,
    /// The `main` of a program that contains another one.
    pub main_of_another: Option<Lines>,
    calls: Vec<Call>,
    /// What may be names of functions, each with its line.
    named: Vec<(usize, String, Way)>,
    /// While it is made: the trait of the methods that are looked at, if it has one, and the
    /// statements around what is looked at.
    of_trait: Option<String>,
    statements: Vec<Lines>,
}

/// What starts a participant, by the last words of what is called.
const STARTS: [&str; 5] = ["start", "spawn", "Coroutine::new", "Coroutine::with_stack", "by_touch"];

/// The constant that holds a program of another language.
const UNITS: &str = "UNITS";

impl Outline {
    pub fn of(file: &syn::File) -> Self {
        let mut outline = Self::default();
        outline.visit_file(file);
        let is_elsewhere = |item: &Item| matches!(item, Item::Mod(module) if module.content.is_none());
        let main = outline.functions.iter().find(|own| own.name == "main").map(|own| own.lines.clone());
        outline.main_of_another = main.filter(|_| file.items.iter().any(is_elsewhere));
        outline
    }

    /// The calls that start a participant, by themselves or by a function of the file.
    pub fn starts(&self) -> impl Iterator<Item = &Call> {
        let by_itself = |call: &Call| STARTS.iter().any(|start| ends_with(&call.words, start));
        let first: Vec<&Call> = self.calls.iter().filter(|call| by_itself(call)).collect();
        let own = self.functions.iter().filter(|own| own.of_trait.is_none());
        let starters: Vec<&Function> =
            own.filter(|own| first.iter().any(|call| own.lines.contains(call.lines.start()))).collect();
        let by_another = move |call: &Call| starters.iter().any(|own| ends_with(&call.words, &own.name));
        self.calls.iter().filter(move |call| by_itself(call) || by_another(call))
    }

    /// The methods that a trait of this name asks for.
    pub fn asked_by(&self, name: &str) -> Vec<Lines> {
        let asked = self.functions.iter().filter(|own| own.of_trait.as_deref() == Some(name));
        asked.map(|own| own.lines.clone()).collect()
    }

    /// The statements in which one of these is called.
    pub fn statements_that_call(&self, names: &[&str]) -> Vec<Lines> {
        let calls = self.calls.iter().filter(|call| names.iter().any(|name| ends_with(&call.words, name)));
        calls.filter_map(|call| call.statement.clone()).collect()
    }

    /// The file's own functions that `main` hands to one of these.
    pub fn handed_by_main_to(&self, entries: &[&str]) -> Vec<Lines> {
        let Some(main) = self.functions.iter().find(|own| own.name == "main") else { return Vec::new() };
        let is_entry = |call: &&Call| entries.iter().any(|entry| ends_with(&call.words, entry));
        let entries = self.calls.iter().filter(|call| main.lines.contains(call.lines.start())).filter(is_entry);
        entries.flat_map(|call| self.called_in(&call.lines)).filter(|lines| *lines != main.lines).collect()
    }

    /// The file's own functions that a call is given.
    pub fn started(&self, call: &Call) -> Vec<Lines> {
        self.functions_in(&call.lines, |function| !ends_with(&call.words, &function.name))
    }

    /// The file's own functions that are named in these lines.
    pub fn called_in(&self, lines: &Lines) -> Vec<Lines> {
        self.functions_in(lines, |_| true)
    }

    /// What a trait asks for is none of them: its name may mean another's.
    fn functions_in(&self, lines: &Lines, is_asked: impl Fn(&Function) -> bool) -> Vec<Lines> {
        let own = || self.functions.iter().filter(|own| own.of_trait.is_none() && !own.lines.contains(lines.start()));
        let named = self.named.iter().filter(|(line, ..)| lines.contains(line));
        let found = named.filter_map(|(_, name, way)| own().find(|own| own.name == *name && own.way == *way));
        found.filter(|own| is_asked(own)).map(|own| own.lines.clone()).collect()
    }

    fn name(&mut self, name: &Ident, way: Way) {
        self.named.push((name.span().start().line, name.to_string(), way));
    }

    fn function(&mut self, name: &Ident, way: Way, lines: Lines) {
        let of_trait = self.of_trait.clone();
        self.functions.push(Function { name: name.to_string(), of_trait, way, lines });
    }

    fn call<'a>(&mut self, words: String, lines: Lines, mut arguments: impl Iterator<Item = &'a Expr>) {
        let statement = self.statements.last().filter(|_| arguments.any(is_code)).cloned();
        self.calls.push(Call { words, lines, statement });
    }

    fn name_all(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(word) => self.name(&word, Way::Alone),
                TokenTree::Group(group) => self.name_all(group.stream()),
                _ => {}
            }
        }
    }
}

/// Whether a path ends with these words.
fn ends_with(path: &str, words: &str) -> bool {
    path.strip_suffix(words).is_some_and(|before| before.is_empty() || before.ends_with("::"))
}

fn lines(syntax: &impl Spanned) -> Lines {
    let span = syntax.span();
    span.start().line..=span.end().line
}

fn words(path: &Path) -> String {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect::<Vec<_>>().join("::")
}

/// Whether an argument is code of its own, and not only a call of what stands elsewhere.
fn is_code(argument: &Expr) -> bool {
    match argument {
        Expr::Async(_) | Expr::Block(_) => true,
        Expr::Closure(closure) => is_code(&closure.body),
        _ => false,
    }
}

/// Whether these are the laps, or whether there is a next one; some programs make batches of them.
fn asks_for_laps(expression: &Expr) -> bool {
    match expression {
        Expr::Path(own) => own.path.is_ident("laps") || own.path.is_ident("batches"),
        Expr::MethodCall(own) => asks_for_laps(&own.receiver),
        _ => false,
    }
}

impl<'a> Visit<'a> for Outline {
    fn visit_item_mod(&mut self, module: &'a ItemMod) {
        if module.ident != "tests" {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, own: &'a ItemFn) {
        self.function(&own.sig.ident, Way::Alone, lines(own));
        visit::visit_item_fn(self, own);
    }

    fn visit_item_const(&mut self, own: &'a ItemConst) {
        if own.ident == UNITS {
            self.units.push(lines(own));
        }
        visit::visit_item_const(self, own);
    }

    fn visit_item_impl(&mut self, own: &'a ItemImpl) {
        self.of_trait = own.trait_.as_ref().and_then(|(path, _)| Some(path.segments.last()?.ident.to_string()));
        visit::visit_item_impl(self, own);
        self.of_trait = None;
    }

    fn visit_impl_item_fn(&mut self, own: &'a ImplItemFn) {
        let way = if own.sig.receiver().is_some() { Way::OfValue } else { Way::OfType };
        self.function(&own.sig.ident, way, lines(own));
        visit::visit_impl_item_fn(self, own);
    }

    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.statements.push(lines(statement));
        visit::visit_stmt(self, statement);
        self.statements.pop();
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::ForLoop(own) if asks_for_laps(&own.expr) && matches!(&*own.pat, Pat::Tuple(_)) => {
                self.loops.push(lines(own));
            }
            Expr::While(own) if asks_for_laps(&own.cond) => self.loops.push(lines(own)),
            _ => {}
        }
        visit::visit_expr(self, expression);
    }

    fn visit_expr_call(&mut self, own: &'a ExprCall) {
        if own.args.iter().any(asks_for_laps) {
            self.handed_on.extend(self.statements.last().cloned());
        }
        if let Expr::Path(function) = &*own.func {
            self.call(words(&function.path), lines(own), own.args.iter());
        }
        visit::visit_expr_call(self, own);
    }

    fn visit_expr_method_call(&mut self, own: &'a ExprMethodCall) {
        self.name(&own.method, Way::OfValue);
        self.call(own.method.to_string(), lines(own), own.args.iter());
        visit::visit_expr_method_call(self, own);
    }

    fn visit_expr_path(&mut self, own: &'a ExprPath) {
        if let Some(last) = own.path.segments.last() {
            self.name(&last.ident, if own.path.segments.len() > 1 { Way::OfType } else { Way::Alone });
        }
        visit::visit_expr_path(self, own);
    }

    /// What a macro does with what it is given, its syntax does not say.
    fn visit_macro(&mut self, own: &'a Macro) {
        self.call(words(&own.path), lines(own), [].into_iter());
        self.name_all(own.tokens.clone());
    }
}
