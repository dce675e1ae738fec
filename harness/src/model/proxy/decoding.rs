//! The body of a reply that came compressed although it was asked not to, as it is read for the trace.

use std::io::{self, Write};

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// So many bytes are decoded at a time: what they become is taken away before the next, so that little is held however
/// much a body grows.
const STEP: usize = 4096;

/// Decodes a body as it comes.
pub(super) struct Decoder(Encoding);

enum Encoding {
    Identity,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    /// `deflate` is the format of zlib, and from some servers the bare one: the first byte tells.
    Deflate(Option<Deflate>),
}

enum Deflate {
    Zlib(Box<ZlibDecoder<Vec<u8>>>),
    Bare(Box<DeflateDecoder<Vec<u8>>>),
}

impl Decoder {
    /// For what `content-encoding` says, in small letters; `None` where that cannot be decoded.
    pub(super) fn new(encoding: &str) -> Option<Self> {
        Some(Self(match encoding.trim() {
            "" | "identity" => Encoding::Identity,
            "gzip" | "x-gzip" => Encoding::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            "deflate" => Encoding::Deflate(None),
            _ => return None,
        }))
    }

    /// Takes the next bytes; `give` gets what they hold.
    ///
    /// # Errors
    /// They are not in that encoding. What came before was given.
    pub(super) fn read(&mut self, bytes: &[u8], mut give: impl FnMut(&[u8])) -> io::Result<()> {
        if let Encoding::Identity = self.0 {
            give(bytes);
            return Ok(());
        }
        for bytes in bytes.chunks(STEP) {
            match &mut self.0 {
                Encoding::Identity => {}
                Encoding::Gzip(decoder) => {
                    let read = through(&mut **decoder, bytes);
                    drain(decoder.get_mut(), &mut give);
                    read?;
                }
                Encoding::Deflate(decoder) => {
                    match decoder.get_or_insert_with(|| Deflate::of(bytes)) {
                        Deflate::Zlib(decoder) => {
                            let read = through(&mut **decoder, bytes);
                            drain(decoder.get_mut(), &mut give);
                            read?;
                        }
                        Deflate::Bare(decoder) => {
                            let read = through(&mut **decoder, bytes);
                            drain(decoder.get_mut(), &mut give);
                            read?;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

impl Deflate {
    fn of(bytes: &[u8]) -> Self {
        // In the format of zlib the first byte names the method: 8.
        let is_zlib = bytes.first().is_some_and(|first| first & 0x0f == 8);
        if is_zlib {
            Self::Zlib(Box::new(ZlibDecoder::new(Vec::new())))
        } else {
            Self::Bare(Box::new(DeflateDecoder::new(Vec::new())))
        }
    }
}

/// Writes all of it and what was held back.
fn through(decoder: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    decoder.write_all(bytes)?;
    decoder.flush()
}

fn drain(decoded: &mut Vec<u8>, give: &mut impl FnMut(&[u8])) {
    if !decoded.is_empty() {
        give(decoded);
        decoded.clear();
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    const TEXT: &str = "data: {\"a\":1}\n\ndata: {\"b\":2}\n\n";

    fn compressed(name: &str) -> Vec<u8> {
        let level = Compression::default();
        match name {
            "zlib" => {
                let mut encoder = ZlibEncoder::new(Vec::new(), level);
                encoder.write_all(TEXT.as_bytes()).unwrap();
                encoder.finish().unwrap()
            }
            "bare" => {
                let mut encoder = DeflateEncoder::new(Vec::new(), level);
                encoder.write_all(TEXT.as_bytes()).unwrap();
                encoder.finish().unwrap()
            }
            _ => {
                let mut encoder = GzEncoder::new(Vec::new(), level);
                encoder.write_all(TEXT.as_bytes()).unwrap();
                encoder.finish().unwrap()
            }
        }
    }

    fn decoded(encoding: &str, bytes: &[u8], size: usize) -> io::Result<String> {
        let mut decoder = Decoder::new(encoding).unwrap();
        let mut text = Vec::new();
        for piece in bytes.chunks(size) {
            decoder.read(piece, |plain| text.extend_from_slice(plain))?;
        }
        Ok(String::from_utf8(text).unwrap())
    }

    #[test]
    fn a_compressed_body_is_read_however_it_is_cut() {
        for (encoding, name) in [
            ("gzip", "gzip"),
            ("x-gzip", "gzip"),
            ("deflate", "zlib"),
            ("deflate", "bare"),
        ] {
            let bytes = compressed(name);
            for size in 1..=bytes.len() {
                assert_eq!(
                    decoded(encoding, &bytes, size).unwrap(),
                    TEXT,
                    "{name} by {size}"
                );
            }
        }
    }

    #[test]
    fn an_event_is_read_as_soon_as_the_server_has_flushed_it() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let mut decoder = Decoder::new("gzip").unwrap();
        for event in ["data: 1\n\n", "data: 2\n\n"] {
            encoder.write_all(event.as_bytes()).unwrap();
            encoder.flush().unwrap();
            let sent = std::mem::take(encoder.get_mut());
            let mut text = Vec::new();
            decoder
                .read(&sent, |plain| text.extend_from_slice(plain))
                .unwrap();
            assert_eq!(text, event.as_bytes());
        }
    }

    #[test]
    fn what_is_not_in_its_encoding_and_what_nobody_reads_is_said() {
        assert!(decoded("gzip", b"{\"choices\":[]}", 99).is_err());
        assert!(Decoder::new("br").is_none());
        assert!(Decoder::new("gzip, br").is_none());
    }
}
