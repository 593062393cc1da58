//! Pieces of a page: escaped text, figures with their bytes inside, tables.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::PageFigure;

/// Text that a browser shows as it is.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// A whole page around its body. It asks for nothing from outside, and can be read without its script.
pub(super) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n{body}</main>\n\
         <script>\n{}</script>\n</body>\n</html>\n",
        escape(title),
        include_str!("style.css"),
        include_str!("search.js"),
    )
}

/// How wide a figure may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    /// The width of the window, so that a narrow window gets the narrow picture.
    Window,
    /// A part of it, which gets the narrow picture always.
    Part,
}

/// A figure with its caption. Figures are drawn at twice the size at which they are shown.
pub(super) fn figure(figure: &PageFigure, width: Width) -> String {
    let alt = escape(&figure.name.replace('_', " "));
    let image = match (&figure.narrow, width) {
        (None, _) => format!("<img{} alt=\"{alt}\">", source("src", &figure.bytes)),
        (Some(narrow), Width::Part) => format!("<img{} alt=\"{alt}\">", source("src", narrow)),
        (Some(narrow), Width::Window) => format!(
            "<picture><source media=\"(max-width: 40rem)\"{}><img{} alt=\"{alt}\"></picture>",
            source("srcset", narrow),
            source("src", &figure.bytes)
        ),
    };
    let caption = escape(&figure.caption);
    format!("<figure>\n<div class=\"wide\">{image}</div>\n<figcaption>{caption}</figcaption>\n</figure>\n")
}

/// The attributes that give an image its size and its bytes.
fn source(attribute: &str, bytes: &[u8]) -> String {
    let kind = if bytes.starts_with(b"GIF8") { "gif" } else { "png" };
    let size = image_size(bytes)
        .map(|(width, height)| format!(" width=\"{}\" height=\"{}\"", width.div_ceil(2), height.div_ceil(2)));
    format!("{} {attribute}=\"data:image/{kind};base64,{}\"", size.unwrap_or_default(), STANDARD.encode(bytes))
}

/// A table whose first column names the rows. Cells are text, not HTML.
pub(super) fn table(header: &[String], rows: &[Vec<String>]) -> String {
    let cells = |row: &[String], tag: &str| -> String {
        row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect()
    };
    let lines: String = rows
        .iter()
        .map(|row| {
            let (name, numbers) = row.split_at(row.len().min(1));
            format!("<tr>{}{}</tr>\n", cells(name, "th"), cells(numbers, "td"))
        })
        .collect();
    format!(
        "<div class=\"wide\">\n<table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{lines}</tbody>\n</table>\n</div>\n",
        cells(header, "th")
    )
}

/// Width and height that a PNG or GIF states in its first bytes.
fn image_size(bytes: &[u8]) -> Option<(u32, u32)> {
    if bytes.starts_with(b"\x89PNG") {
        let side = |start: usize| Some(u32::from_be_bytes(bytes.get(start..start + 4)?.try_into().ok()?));
        return Some((side(16)?, side(20)?));
    }
    let side = |start: usize| Some(u32::from(u16::from_le_bytes(bytes.get(start..start + 2)?.try_into().ok()?)));
    if bytes.starts_with(b"GIF8") { Some((side(6)?, side(8)?)) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::animation::to_gif;
    use crate::canvas::Canvas;

    #[test]
    fn nothing_of_a_text_is_taken_for_html() {
        assert_eq!(escape("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
    }

    #[test]
    fn sizes_are_read_from_the_files_themselves() {
        let canvas = Canvas::new(300, 70);
        assert_eq!(image_size(&canvas.to_png().unwrap()), Some((300, 70)));
        assert_eq!(image_size(&to_gif(&[canvas], 0.1).unwrap()), Some((300, 70)));
        assert_eq!(image_size(b"GIF89a"), None);
        assert_eq!(image_size(b""), None);
    }

    #[test]
    fn cells_are_escaped() {
        let html = table(&["a".to_string(), "<b>".to_string()], &[vec!["c".to_string(), "1 < 2".to_string()]]);
        assert!(html.contains("<th>&lt;b&gt;</th>") && html.contains("<tr><th>c</th><td>1 &lt; 2</td></tr>"));
    }
}
