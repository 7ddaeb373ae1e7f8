//! The client for JavaScript and TypeScript: `index.js`, its types, and the version in `package.json`.

use serde_json::json;

use super::api::{Answer, ApiModel, Field, Operation, Record, Shape, ToolShapes, capitalized, type_name};

const NOTE: &str =
    "// Generated from the server's OpenAPI document by tests/suite/client_code. Do not edit.\n";

pub fn client_files(api: &ApiModel) -> Vec<(&'static str, String)> {
    vec![("index.js", code_file(api)), ("index.d.ts", types_file(api)), ("package.json", package_file(api))]
}

fn package_file(api: &ApiModel) -> String {
    let package = json!({
        "name": "os-screen-observer-client",
        "version": api.version,
        "description": "Typed client for the HTTP API of os-screen-observer.",
        "license": "MIT OR Apache-2.0",
        "type": "module",
        "exports": {".": {"types": "./index.d.ts", "default": "./index.js"}},
        "types": "./index.d.ts",
        "files": ["index.js", "index.d.ts", "transport.js", "transport.d.ts"],
        "engines": {"node": ">=18"},
    });
    format!("{}\n", serde_json::to_string_pretty(&package).unwrap())
}

fn code_file(api: &ApiModel) -> String {
    let methods: String = api.operations.iter().map(method_code).collect();
    format!(
        "{NOTE}import {{ Transport }} from './transport.js';\n\nexport {{ ScreenObserverError }} from './transport.js';\n\n\
         /** The version of the server that this client was made for. */\nexport const VERSION = '{}';\n\n\
         export class ScreenObserverClient extends Transport {{\n  /** Calls a tool. */\n  call(name, args = {{}}) {{\n    \
         return this.send('POST', `/api/tool/${{encodeURIComponent(name)}}`, {{ body: args }});\n  }}\n{methods}}}\n",
        api.version
    )
}

fn method_code(operation: &Operation) -> String {
    let Operation { method, summary, .. } = operation;
    let mut path = operation.path.clone();
    for name in &operation.path_parameters {
        path =
            path.replace(&format!("{{{name}}}"), &format!("${{encodeURIComponent({})}}", camel_case(name)));
    }
    let given = [
        operation.body.as_ref().map(|_| "body"),
        (!operation.query.is_empty()).then_some("query"),
        reads_as(&operation.answer),
    ];
    let given: Vec<&str> = given.into_iter().flatten().collect();
    let options = if given.is_empty() { String::new() } else { format!(", {{ {} }}", given.join(", ")) };
    let parameters: Vec<String> = call_parameters(operation)
        .into_iter()
        .map(|(name, _, may_miss)| if may_miss { format!("{name} = {{}}") } else { name })
        .collect();
    format!(
        "\n  /** {summary} */\n  {}({}) {{\n    return this.send('{method}', `{path}`{options});\n  }}\n",
        camel_case(&operation.name),
        parameters.join(", ")
    )
}

fn reads_as(answer: &Answer) -> Option<&'static str> {
    match answer {
        Answer::Json(_) => None,
        Answer::Text => Some("as: 'text'"),
        Answer::Bytes => Some("as: 'bytes'"),
    }
}

/// Name, type, and whether it may be left out.
fn call_parameters(operation: &Operation) -> Vec<(String, String, bool)> {
    let path = operation.path_parameters.iter().map(|name| (camel_case(name), "string".to_owned(), false));
    let body =
        operation.body.as_ref().map(|body| ("body".to_owned(), type_text(&body.shape), !body.required));
    let may_miss = operation.query.iter().all(|field| !field.required);
    let query = Record { fields: operation.query.clone(), is_open: false };
    let query =
        (!operation.query.is_empty()).then(|| ("query".to_owned(), record_text(&query, "  "), may_miss));
    path.chain(body).chain(query).collect()
}

fn types_file(api: &ApiModel) -> String {
    let named: String = api.named.iter().map(|(name, shape)| named_type(name, "", shape)).collect();
    let tools: String = api.tools.iter().map(tool_types).collect();
    let rows: String = api.tools.iter().map(tool_row).collect();
    let methods: String = api.operations.iter().map(method_types).collect();
    format!(
        "{NOTE}import {{ Transport }} from './transport.js';\n\nexport {{ ScreenObserverError }} from './transport.js';\n\
         export type {{ ClientOptions }} from './transport.js';\n\n\
         /** The version of the server that this client was made for. */\nexport const VERSION: string;\n\n{named}{tools}\
         /** What each tool takes and answers. */\nexport interface Tools {{\n{rows}}}\n\n\
         type ToolParameters<Name extends keyof Tools> = {{}} extends Tools[Name]['arguments']\n  \
         ? [args?: Tools[Name]['arguments']]\n  : [args: Tools[Name]['arguments']];\n\n\
         export class ScreenObserverClient extends Transport {{\n  /** Calls a tool. */\n  \
         call<Name extends keyof Tools>(name: Name, ...args: ToolParameters<Name>): Promise<Tools[Name]['reply']>;\n{methods}}}\n"
    )
}

fn tool_types(tool: &ToolShapes) -> String {
    let name = |part: &str| type_name(&format!("{}.{part}", tool.name));
    let about = format!("Arguments of `{}`: {}", tool.name, tool.summary);
    format!(
        "{}{}",
        named_type(&name("arguments"), &about, &tool.arguments),
        named_type(&name("reply"), "", &tool.reply)
    )
}

fn tool_row(tool: &ToolShapes) -> String {
    let name = |part: &str| type_name(&format!("{}.{part}", tool.name));
    format!("  {}: {{ arguments: {}; reply: {} }};\n", tool.name, name("arguments"), name("reply"))
}

fn named_type(name: &str, about: &str, shape: &Shape) -> String {
    let about = if about.is_empty() { String::new() } else { format!("/** {} */\n", comment_text(about)) };
    match shape {
        Shape::Record(record) => format!("{about}export interface {name} {}\n\n", record_text(record, "")),
        other => format!("{about}export type {name} = {};\n\n", type_text(other)),
    }
}

fn method_types(operation: &Operation) -> String {
    let parameters: Vec<String> = call_parameters(operation)
        .into_iter()
        .map(|(name, kind, may_miss)| format!("{name}{}: {kind}", if may_miss { "?" } else { "" }))
        .collect();
    let answer = match &operation.answer {
        Answer::Json(shape) => type_text(shape),
        Answer::Text => "string".to_owned(),
        Answer::Bytes => "Uint8Array".to_owned(),
    };
    format!(
        "\n  /** {} */\n  {}({}): Promise<{answer}>;\n",
        comment_text(&operation.summary),
        camel_case(&operation.name),
        parameters.join(", ")
    )
}

pub fn type_text(shape: &Shape) -> String {
    match shape {
        Shape::Any => "unknown".to_owned(),
        Shape::Null => "null".to_owned(),
        Shape::Boolean => "boolean".to_owned(),
        Shape::Integer | Shape::Number => "number".to_owned(),
        Shape::Text => "string".to_owned(),
        Shape::Literal(value) => value.to_string(),
        Shape::List(items) => match &**items {
            Shape::Union(_) => format!("({})[]", type_text(items)),
            items => format!("{}[]", type_text(items)),
        },
        Shape::Map(values) => format!("{{ [name: string]: {} }}", type_text(values)),
        Shape::Record(record) => record_text(record, "  "),
        Shape::Union(parts) => parts.iter().map(type_text).collect::<Vec<_>>().join(" | "),
        Shape::Named(name) => name.clone(),
    }
}

fn record_text(record: &Record, indent: &str) -> String {
    let mut lines: String = record.fields.iter().map(|field| field_line(field, indent)).collect();
    if record.is_open {
        lines.push_str(&format!("{indent}  [name: string]: unknown;\n"));
    }
    format!("{{\n{lines}{indent}}}")
}

fn field_line(field: &Field, indent: &str) -> String {
    let about = match field.description.as_str() {
        "" => String::new(),
        words => format!("{indent}  /** {} */\n", comment_text(words)),
    };
    let may_miss = if field.required { "" } else { "?" };
    // One level deeper for what has lines of its own.
    let kind = type_text(&field.shape).replace('\n', &format!("\n{indent}"));
    format!("{about}{indent}  {}{may_miss}: {kind};\n", property_name(&field.name))
}

fn property_name(name: &str) -> String {
    let is_plain =
        name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '$');
    if is_plain && !name.starts_with(|letter: char| letter.is_ascii_digit()) {
        name.to_owned()
    } else {
        json!(name).to_string()
    }
}

fn comment_text(words: &str) -> String {
    words.replace("*/", "*\\/")
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    first + &words.map(capitalized).collect::<String>()
}
