// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

/**
 * What a mailbox is called. No two have the same.
 *
 * @param user the owner; empty for mailboxes of nobody
 */
public record Name(String user, String namespace, String name) {}
