//! Assembles the output from deltas only, and records every inconsistency.

use serde_json::Value;

/// The output so far.
#[derive(Default)]
pub(super) struct Assembly {
    items: Vec<Item>,
    pub(super) faults: Vec<String>,
}

struct Item {
    value: Value,
    /// Whether a tool that runs in Callboard has ended.
    ran: bool,
    done: bool,
}

impl Assembly {
    /// Handles an event; events about the response itself are ignored.
    pub(super) fn take(&mut self, event: &Value) {
        let Some(index) = event["output_index"].as_u64().and_then(|index| usize::try_from(index).ok()) else { return };
        if event["type"] == "response.output_item.added" {
            // Calls that run in Callboard may overlap; all other items are sequential.
            let overlaps = |item: &Item| item.value["type"] == "mcp_call" && event["item"]["type"] == "mcp_call";
            if index != self.items.len() || self.items.last().is_some_and(|item| !item.done && !overlaps(item)) {
                self.faults.push(format!("an item is not added behind whole ones: {event}"));
            }
            return self.items.push(Item { value: event["item"].clone(), ran: false, done: false });
        }
        let taken = match self.items.get_mut(index) {
            Some(item) if !item.done => item.take(event),
            _ => None,
        };
        if taken.is_none() {
            self.faults.push(format!("does not fit what came before: {event}"));
        }
    }

    /// Faults in the final output. Items of a failed response may be cut, but what was streamed must be there.
    pub(super) fn faults_at_end(mut self, output: &Value, failed: bool) -> Vec<String> {
        for item in self.items.iter_mut().filter(|item| failed && !item.done) {
            item.done = true;
        }
        if self.items.iter().any(|item| !item.done) {
            self.faults.push("an item was added and never done".to_owned());
        }
        let assembled: Value = self.items.into_iter().map(|item| item.value).collect();
        if assembled != *output {
            self.faults.push(format!("the deltas add up to\n  {assembled}\nand the output is\n  {output}"));
        }
        self.faults
    }
}

impl Item {
    /// None where the event does not fit.
    fn take(&mut self, event: &Value) -> Option<()> {
        let id = event.get("item_id").or_else(|| event["item"].get("id"))?;
        if self.value["id"] != *id || self.value["status"] != "in_progress" {
            return None;
        }
        match event["type"].as_str()?.strip_prefix("response.")? {
            "mcp_call.in_progress" | "mcp_call.completed" | "mcp_call.failed" if self.value["type"] == "mcp_call" => {
                self.ran = event["type"] != "response.mcp_call.in_progress";
                Some(())
            }
            "output_item.done" => {
                let mut whole = event["item"].clone();
                if std::mem::take(&mut self.ran) {
                    // The output of a tool is sent only with the whole item.
                    ["output", "error"].iter().for_each(|key| self.value[*key] = whole[*key].clone());
                }
                let status = std::mem::replace(&mut whole["status"], "in_progress".into());
                self.done = whole == self.value && status != "in_progress";
                self.value["status"] = status;
                self.done.then_some(())
            }
            "content_part.added" => {
                let parts = self.value["content"].as_array_mut()?;
                let fits = event["content_index"] == parts.len() && part_text(&event["part"])?.is_empty();
                parts.push(event["part"].clone());
                fits.then_some(())
            }
            "content_part.done" => (self.part(event)? == &event["part"]).then_some(()),
            "function_call_arguments.delta" | "mcp_call_arguments.delta" => {
                grow(self.value.get_mut("arguments")?, event)
            }
            "function_call_arguments.done" | "mcp_call_arguments.done" => {
                (self.value["arguments"] == event["arguments"]).then_some(())
            }
            "output_text.delta" | "reasoning_text.delta" => grow(self.part(event)?.get_mut("text")?, event),
            "output_text.done" | "reasoning_text.done" => (self.part(event)?["text"] == event["text"]).then_some(()),
            "output_text.annotation.added" => {
                let annotations = self.part(event)?["annotations"].as_array_mut()?;
                let fits = event["annotation_index"] == annotations.len();
                annotations.push(event["annotation"].clone());
                fits.then_some(())
            }
            "refusal.delta" => grow(self.part(event)?.get_mut("refusal")?, event),
            "refusal.done" => (self.part(event)?["refusal"] == event["refusal"]).then_some(()),
            _ => None,
        }
    }

    fn part(&mut self, event: &Value) -> Option<&mut Value> {
        let index = usize::try_from(event["content_index"].as_u64()?).ok()?;
        self.value["content"].get_mut(index)
    }
}

fn part_text(part: &Value) -> Option<&str> {
    part.get("text").or_else(|| part.get("refusal"))?.as_str()
}

fn grow(text: &mut Value, event: &Value) -> Option<()> {
    *text = format!("{}{}", text.as_str()?, event["delta"].as_str()?).into();
    Some(())
}
