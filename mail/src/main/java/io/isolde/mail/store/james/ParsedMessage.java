// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import org.apache.james.mailbox.model.Content;
import org.apache.james.mailbox.store.mail.model.impl.PropertyBuilder;
import org.apache.james.mailbox.store.streaming.CountingInputStream;
import org.apache.james.mime4j.MimeException;
import org.apache.james.mime4j.codec.DecodeMonitor;
import org.apache.james.mime4j.field.LenientFieldParser;
import org.apache.james.mime4j.message.DefaultBodyDescriptorBuilder;
import org.apache.james.mime4j.message.HeaderImpl;
import org.apache.james.mime4j.message.MaximalBodyDescriptor;
import org.apache.james.mime4j.stream.EntityState;
import org.apache.james.mime4j.stream.MimeConfig;
import org.apache.james.mime4j.stream.MimeTokenStream;
import org.apache.james.mime4j.stream.RecursionMode;
import org.apache.james.util.io.BodyOffsetInputStream;
import org.apache.james.util.io.UnsynchronizedBufferedInputStream;

/**
 * What is kept of a message besides its bytes: the same as James' own managers keep.
 *
 * @param bodyStart where the body starts, in bytes
 */
record ParsedMessage(PropertyBuilder properties, HeaderImpl header, int bodyStart) {
  private static final LenientFieldParser FIELDS = new LenientFieldParser();

  /** Reads a message once. Lines may have any length: SMTP and IMAP have bounds of their own. */
  static ParsedMessage of(Content message) throws IOException, MimeException {
    try (InputStream in = message.getInputStream();
        UnsynchronizedBufferedInputStream buffered = new UnsynchronizedBufferedInputStream(in);
        BodyOffsetInputStream bytes = new BodyOffsetInputStream(buffered)) {
      MimeTokenStream parser =
          new MimeTokenStream(
              MimeConfig.PERMISSIVE,
              new DefaultBodyDescriptorBuilder(null, FIELDS, DecodeMonitor.SILENT));
      parser.setRecursionMode(RecursionMode.M_NO_RECURSE);
      parser.parse(bytes);
      HeaderImpl header = header(parser);
      MaximalBodyDescriptor found = (MaximalBodyDescriptor) parser.getBodyDescriptor();
      PropertyBuilder properties = properties(found);
      if (isText(found)) {
        properties.setTextualLineCount(lines(parser));
      }
      int bodyStart = Math.toIntExact(bytes.getBodyStartOffset());
      return new ParsedMessage(properties, header, Math.max(0, bodyStart));
    }
  }

  private static HeaderImpl header(MimeTokenStream parser) throws IOException, MimeException {
    HeaderImpl header = new HeaderImpl();
    for (EntityState next = parser.next(); !isBehindHeader(next); next = parser.next()) {
      if (next == EntityState.T_FIELD) {
        header.addField(parser.getField());
      }
    }
    return header;
  }

  private static boolean isBehindHeader(EntityState state) {
    return state == EntityState.T_BODY
        || state == EntityState.T_END_OF_STREAM
        || state == EntityState.T_START_MULTIPART;
  }

  /** A message that does not say what it is, is text. */
  private static boolean isText(MaximalBodyDescriptor found) {
    return found.getMediaType() == null || found.getMediaType().equalsIgnoreCase("text");
  }

  private static PropertyBuilder properties(MaximalBodyDescriptor found) {
    boolean isTyped = found.getMediaType() != null;
    PropertyBuilder properties = new PropertyBuilder();
    properties.setMediaType(isTyped ? found.getMediaType() : "text");
    properties.setSubType(isTyped ? found.getSubType() : "plain");
    properties.setContentID(found.getContentId());
    properties.setContentDescription(found.getContentDescription());
    properties.setContentLocation(found.getContentLocation());
    properties.setContentMD5(found.getContentMD5Raw());
    properties.setContentTransferEncoding(found.getTransferEncoding());
    properties.setContentLanguage(found.getContentLanguage());
    properties.setContentDispositionType(found.getContentDispositionType());
    properties.setContentDispositionParameters(found.getContentDispositionParameters());
    properties.setContentTypeParameters(found.getContentTypeParameters());
    charset(found).ifPresent(properties::setCharset);
    return properties;
  }

  private static Optional<String> charset(MaximalBodyDescriptor found) {
    return found.getCharset() == null && isText(found)
        ? Optional.of("us-ascii")
        : Optional.ofNullable(found.getCharset());
  }

  private static long lines(MimeTokenStream parser) throws IOException, MimeException {
    long lines = count(parser.getInputStream());
    return parser.next() == EntityState.T_EPILOGUE ? lines + count(parser.getInputStream()) : lines;
  }

  private static long count(InputStream in) throws IOException {
    try (CountingInputStream counting = new CountingInputStream(in)) {
      counting.readAll();
      return counting.getLineCount();
    }
  }
}
