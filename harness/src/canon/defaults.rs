//! What the schema gives one meaning: which value of a member says the same as leaving it out.
//!
//! Compiled once from the definitions of the schema, so that it cannot drift from them.

use std::sync::LazyLock;

use foldhash::HashMap;
use serde_json::Value;

use super::node::Node;
use crate::spec::{Methods, Schema};

/// Words that stand for an absent member; the types have them, the schema does not say them.
const WORDS: [(&str, &str, &str); 2] = [
    ("ToolCall", "kind", "other"),
    ("ToolCall", "status", "pending"),
];

/// What may be left out, for each definition of a protocol version.
#[derive(Debug, Default)]
pub(crate) struct Defaults {
    objects: Vec<Object>,
    by_definition: HashMap<String, usize>,
}

/// The members of one type.
#[derive(Debug, Default)]
struct Object {
    members: HashMap<String, Member>,
    /// Forms that are told apart by the value of a member.
    tagged: HashMap<String, HashMap<String, usize>>,
    /// Other types whose members this one has or may have.
    others: Vec<usize>,
    /// Whether some member is required.
    demands: bool,
}

/// What is known of one member.
#[derive(Debug, Default)]
struct Member {
    /// `null` says the same as absence.
    null: bool,
    /// `null` says the same as an empty list.
    null_is_empty: bool,
    /// An empty list or object says the same as absence.
    empty: bool,
    /// This value does.
    value: Option<Value>,
    inner: Inner,
}

/// What stands in a member.
#[derive(Debug, Default)]
enum Inner {
    /// A scalar, or something that the protocol does not type.
    #[default]
    Leaf,
    Object(usize),
    List(Box<Self>),
}

impl Defaults {
    /// Those of protocol version 1.
    pub(crate) fn v1() -> &'static Self {
        static V1: LazyLock<Defaults> = LazyLock::new(|| Defaults::of(Schema::v1()));
        &V1
    }

    fn of(schema: &Schema) -> Self {
        let mut defaults = Self::default();
        for (name, _) in schema.definitions() {
            defaults.definition(schema, name);
        }
        defaults
    }

    /// Leaves out of the parameters or result of a method what says nothing. Returns whether nothing is left of an object
    /// that demands nothing.
    pub(crate) fn drop_from(&self, node: &mut Node<'_>, definition: &str) -> bool {
        let Some(&object) = self.by_definition.get(definition) else {
            return false;
        };
        self.clean(node, &Inner::Object(object));
        let demands = self.objects.get(object).is_none_or(|object| object.demands);
        !demands && (node.is_empty() || *node == Node::Null)
    }

    /// The definition of a method's parameters.
    pub(crate) fn params_of(method: &str) -> Option<&'static str> {
        Methods::v1()
            .get(method)
            .map(|method| method.params.as_str())
    }

    /// The definition of a method's result.
    pub(crate) fn result_of(method: &str) -> Option<&'static str> {
        Methods::v1().get(method)?.result.as_deref()
    }

    fn clean(&self, node: &mut Node<'_>, inner: &Inner) {
        match (inner, node) {
            (Inner::Object(object), node @ Node::Object(_)) => self.clean_object(node, *object),
            (Inner::List(inner), Node::List(items)) => {
                for item in items {
                    self.clean(item, inner);
                }
            }
            _ => {}
        }
    }

    fn clean_object(&self, node: &mut Node<'_>, object: usize) {
        let tags = self.forms(node, object);
        let Node::Object(members) = node else {
            return;
        };
        members.retain_mut(|(name, value)| {
            let Some(member) = tags
                .iter()
                .find_map(|object| self.objects.get(*object)?.members.get(name.as_ref()))
            else {
                return true;
            };
            self.clean(value, &member.inner);
            if *value == Node::Null && member.null_is_empty {
                *value = Node::List(Vec::new());
            }
            !member.says_nothing(value)
        });
    }

    /// The types that apply to this object: its own, those that it includes, and the forms that its tags name.
    fn forms(&self, node: &Node<'_>, object: usize) -> Vec<usize> {
        let mut forms = vec![object];
        let mut next = 0;
        while let Some(object) = forms.get(next).and_then(|index| self.objects.get(*index)) {
            next += 1;
            let tagged = object.tagged.iter().filter_map(|(tag, forms)| {
                let value = node.get(tag)?.text()?;
                forms.get(value).copied()
            });
            for form in tagged.chain(object.others.iter().copied()) {
                if !forms.contains(&form) {
                    forms.push(form);
                }
            }
        }
        forms
    }

    fn definition(&mut self, schema: &Schema, name: &str) -> Option<usize> {
        if let Some(known) = self.by_definition.get(name) {
            return Some(*known);
        }
        let content = schema.definition(name)?;
        let index = self.objects.len();
        self.objects.push(Object::default());
        self.by_definition.insert(name.to_owned(), index);
        let object = self.compile(schema, name, content);
        if let Some(slot) = self.objects.get_mut(index) {
            *slot = object;
        }
        Some(index)
    }

    fn compile(&mut self, schema: &Schema, definition: &str, content: &Value) -> Object {
        let mut object = Object::default();
        let required: Vec<&str> = content
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        object.demands = !required.is_empty();
        if let Some(properties) = content.get("properties").and_then(Value::as_object) {
            for (name, property) in properties {
                let mut member = self.member(schema, property, required.contains(&name.as_str()));
                if let Some((.., word)) = WORDS
                    .iter()
                    .find(|(owner, owned, _)| *owner == definition && owned == name)
                {
                    member.value = Some(Value::from(*word));
                }
                object.members.insert(name.clone(), member);
            }
        }
        if let Some(index) = reference(content).and_then(|name| self.definition(schema, name)) {
            object.others.push(index);
        }
        for branch in ["oneOf", "anyOf", "allOf"]
            .iter()
            .filter_map(|word| content.get(word)?.as_array())
            .flatten()
        {
            let tag = branch
                .get("properties")
                .and_then(Value::as_object)
                .and_then(|properties| {
                    properties.iter().find_map(|(name, property)| {
                        Some((name.clone(), property.get("const")?.as_str()?.to_owned()))
                    })
                });
            let index = self.objects.len();
            self.objects.push(Object::default());
            let compiled = self.compile(schema, "", branch);
            object.demands |= compiled.demands;
            if let Some(slot) = self.objects.get_mut(index) {
                *slot = compiled;
            }
            match tag {
                Some((name, value)) => {
                    object.tagged.entry(name).or_default().insert(value, index);
                }
                None => object.others.push(index),
            }
        }
        object
    }

    fn member(&mut self, schema: &Schema, property: &Value, required: bool) -> Member {
        let marked = |mark: &str| property.get(mark).and_then(Value::as_bool) == Some(true);
        let on_null = marked("x-deserialize-default-on-null");
        let is = |wanted: &str| property.get("type").and_then(Value::as_str) == Some(wanted);
        let value = property.get("default").cloned();
        let default_is_empty = value
            .as_ref()
            .is_some_and(|value| value.is_object() || value.as_array().is_some_and(Vec::is_empty));
        let free = property.get("additionalProperties") == Some(&Value::Bool(true));
        Member {
            null: !required
                && (nullable(property) || on_null || marked("x-deserialize-default-on-error")),
            null_is_empty: required && on_null && is("array"),
            empty: !required
                && (is("array") || default_is_empty || free || (is("object") && on_null)),
            value: value.filter(|value| !required && !value.is_object()),
            inner: self.inner(schema, property),
        }
    }

    fn inner(&mut self, schema: &Schema, property: &Value) -> Inner {
        if let Some(name) = reference(property) {
            // A definition that is itself a list or a map of something holds no members of its own.
            let content = schema.definition(name).unwrap_or(&Value::Null);
            if content.get("type").and_then(Value::as_str) == Some("array") {
                return self.inner(schema, &content.clone());
            }
            return self
                .definition(schema, name)
                .map_or(Inner::Leaf, Inner::Object);
        }
        if let Some(items) = property.get("items") {
            return Inner::List(Box::new(self.inner(schema, items)));
        }
        if let Some(branches) = property.get("anyOf").and_then(Value::as_array) {
            let mut forms = branches.iter().filter(|branch| !is_null(branch));
            if let (Some(only), None) = (forms.next(), forms.next()) {
                return self.inner(schema, only);
            }
        }
        Inner::Leaf
    }
}

impl Member {
    fn says_nothing(&self, value: &Node<'_>) -> bool {
        match value {
            Node::Null => self.null,
            Node::List(_) | Node::Object(_) if value.is_empty() => self.empty,
            Node::Bool(value) => self.value == Some(Value::Bool(*value)),
            Node::Text(text) => self
                .value
                .as_ref()
                .and_then(Value::as_str)
                .is_some_and(|word| word == text),
            _ => false,
        }
    }
}

fn reference(content: &Value) -> Option<&str> {
    content.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null")
}

fn nullable(property: &Value) -> bool {
    let types = property.get("type").and_then(Value::as_array);
    let branches = property.get("anyOf").and_then(Value::as_array);
    types.is_some_and(|types| types.iter().any(|one| one == "null"))
        || branches.is_some_and(|branches| branches.iter().any(is_null))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canon::minted::Minted;
    use serde_json::json;

    fn cleaned(definition: &str, value: Value) -> Value {
        let mut node = Node::from(value);
        Defaults::v1().drop_from(&mut node, definition);
        node.json(&Minted::new())
    }

    #[test]
    fn a_capability_that_is_off_says_the_same_as_none() {
        assert_eq!(
            cleaned(
                "InitializeResponse",
                json!({"protocolVersion":1,"authMethods":[],"agentInfo":null,"_meta":{},
                    "agentCapabilities":{"loadSession":false,"auth":{},"promptCapabilities":{"image":false},
                        "sessionCapabilities":{"list":{},"resume":null}}})
            ),
            json!({"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"list":{}}}})
        );
    }

    #[test]
    fn an_empty_list_that_replaces_something_is_kept() {
        let update = |value: Value| {
            let mut update = json!({"sessionUpdate":"tool_call_update","toolCallId":"a"});
            update
                .as_object_mut()
                .unwrap()
                .insert("content".to_owned(), value);
            cleaned(
                "SessionNotification",
                json!({"sessionId":"s","update":update}),
            )
        };
        assert_eq!(update(json!([]))["update"]["content"], json!([]));
        assert_eq!(update(Value::Null)["update"].get("content"), None);
    }

    #[test]
    fn a_tool_call_is_pending_and_of_no_kind_unless_it_says_otherwise() {
        assert_eq!(
            cleaned(
                "SessionNotification",
                json!({"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"a","title":"t",
                    "kind":"other","status":"pending","content":[],"rawInput":null}})
            ),
            json!({"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"a","title":"t"}})
        );
    }

    #[test]
    fn what_is_required_and_what_is_not_typed_stays() {
        let session = json!({"cwd":"/","mcpServers":[]});
        assert_eq!(cleaned("NewSessionRequest", session.clone()), session);
        assert_eq!(
            cleaned("NewSessionRequest", json!({"cwd":"/","mcpServers":null})),
            session
        );
        let output = json!({"output":"","truncated":false});
        assert_eq!(cleaned("TerminalOutputResponse", output.clone()), output);
        let call = json!({"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"a",
            "rawInput":{"a":null,"b":false,"c":[]}}});
        assert_eq!(cleaned("SessionNotification", call.clone()), call);
    }
}
