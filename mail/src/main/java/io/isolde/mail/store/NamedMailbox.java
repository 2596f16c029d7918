// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import java.util.Map;
import java.util.UUID;

/**
 * A mailbox under its name.
 *
 * @param id never used again
 * @param rights by who has them, both as in RFC 4314
 */
public record NamedMailbox(Name name, UUID id, long uidValidity, Map<String, String> rights) {
  public NamedMailbox {
    rights = Map.copyOf(rights);
  }

  /** The same mailbox under another name. */
  public NamedMailbox called(Name other) {
    return new NamedMailbox(other, id, uidValidity, rights);
  }

  /** The same mailbox with other rights. */
  public NamedMailbox with(Map<String, String> otherRights) {
    return new NamedMailbox(name, id, uidValidity, otherRights);
  }
}
