// SPDX-License-Identifier: Apache-2.0
/** IMAP: James' decoder and processor, with threads and bounds of ours around them. */
package io.isolde.mail.imap;
